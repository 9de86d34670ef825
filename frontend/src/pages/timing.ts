/** When each question was answered, in seconds since its page was opened, and how often that was changed. */

import type { Answer, ItemTimes } from "../types";
import type { Field } from "./questions";

export class Timing {
  private readonly since = performance.now();
  private readonly items = new Map<string, ItemTimes & { answer: string }>();

  constructor(fields: Field[]) {
    for (const field of fields) {
      this.items.set(field.question.id, { first_s: null, last_s: null, changes: 0, answer: text(field.answer()) });
      for (const kind of ["input", "change"]) field.element.addEventListener(kind, () => this.look(field));
    }
  }

  all(): Record<string, ItemTimes> {
    const plain = ({ first_s, last_s, changes }: ItemTimes): ItemTimes => ({ first_s, last_s, changes });
    return Object.fromEntries([...this.items].map(([id, item]) => [id, plain(item)]));
  }

  private look(field: Field): void {
    const item = this.items.get(field.question.id);
    const now = text(field.answer());
    if (item === undefined || item.answer === now) return;
    item.answer = now;
    item.last_s = Math.round(performance.now() - this.since) / 1000;
    item.first_s ??= item.last_s;
    item.changes += 1;
  }
}

function text(answer: Answer): string {
  return JSON.stringify(answer);
}
