/** Complaints about answers: one beside each question, and a summary that leads there. */

import { h } from "../dom";
import { say } from "../words";

interface Watched {
  label: string;
  field: HTMLElement;
  focus: HTMLElement;
  note: HTMLElement;
}

export class Complaints {
  readonly summary = h("div", { class: "complaints", role: "alert", tabindex: -1, hidden: true });
  private readonly watched = new Map<string, Watched>();

  /** Complaints about `id` appear in `field`; links lead to `focus`. */
  watch(id: string, label: string, field: HTMLElement, focus: HTMLElement): void {
    const note = h("p", { class: "complaint", id: `error-${id}`, hidden: true });
    field.append(note);
    this.watched.set(id, { label, field, focus, note });
    field.addEventListener("change", () => this.mark(id, null));
  }

  /** Show these complaints and nothing else; says whether there are any. */
  show(errors: Record<string, string>): boolean {
    for (const id of this.watched.keys()) this.mark(id, errors[id] ?? null);
    const entries = Object.entries(errors);
    this.summary.hidden = entries.length === 0;
    if (entries.length === 0) return false;
    this.summary.replaceChildren(h("p", {}, say("fix")), h("ul", {}, ...entries.map(([id, text]) => this.line(id, text))));
    this.summary.focus();
    return true;
  }

  private line(id: string, text: string): HTMLElement {
    const found = this.watched.get(id);
    if (found === undefined) return h("li", {}, text);
    const go = (event: Event): void => {
      event.preventDefault();
      found.focus.focus();
    };
    return h("li", {}, h("a", { href: `#error-${id}`, click: go }, found.label), `: ${text}`);
  }

  private mark(id: string, text: string | null): void {
    const found = this.watched.get(id);
    if (found === undefined) return;
    found.note.hidden = text === null;
    found.note.textContent = text ?? "";
    found.field.classList.toggle("wrong", text !== null);
    if (text === null) {
      found.focus.removeAttribute("aria-invalid");
      found.focus.removeAttribute("aria-describedby");
    } else {
      found.focus.setAttribute("aria-invalid", "true");
      found.focus.setAttribute("aria-describedby", found.note.id);
    }
  }
}
