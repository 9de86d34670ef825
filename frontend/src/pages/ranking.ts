/** A ranking, best on top: by dragging, by buttons, or by keyboard (pick up, move, put down). */

import { h, html } from "../dom";
import { sign } from "../shapes";
import type { Alias, RankingPage } from "../types";
import { say } from "../words";
import { Complaints } from "./complaints";
import type { Shell, Shown } from "./page";

const TOP_EDGE = 80; // pixels from the top of the window, below the frame, from where a drag scrolls the page up
const BOTTOM_EDGE = 40;
const PACE = 8; // pixels of scrolling in a fiftieth of a second

class Ranking {
  readonly list = h("ol", { class: "ranking" });
  readonly live = h("p", { class: "unseen", role: "status", "aria-live": "assertive" });
  private readonly rows = new Map<HTMLElement, Alias>();
  private readonly unplaced = new Set<HTMLElement>();
  private lifted: { row: HTMLElement; from: number } | null = null;

  constructor(page: RankingPage, draft: unknown, private readonly changed: (order: string[], placed: boolean) => void) {
    const fixed = new Set(page.fixed);
    for (const item of ordered(page, draft)) {
      const row = this.row(item, !fixed.has(item.id));
      this.rows.set(row, item);
      this.list.append(row);
      // A newcomer's first place is our doing, not an opinion: it has to be put somewhere by hand.
      if (fixed.size > 0 && !fixed.has(item.id) && !Array.isArray(draft)) this.mark(row, true);
    }
    this.number();
  }

  order(): string[] {
    return this.elements().map((row) => this.item(row).id);
  }

  missing(): string | null {
    const [row] = this.unplaced;
    return row === undefined ? null : this.item(row).label;
  }

  private row(item: Alias, movable: boolean): HTMLElement {
    const row = h("li", { class: movable ? "movable" : "set", "data-id": item.id });
    row.append(h("span", { class: "place", "aria-hidden": "true" }), sign(item), h("span", { class: "label" }, item.label));
    if (!movable) return row;
    const handle = h("button", { type: "button", class: "handle", "aria-pressed": "false", "aria-label": say("move", item.label) }, "⠿");
    const up = h("button", { type: "button", class: "step up", "aria-label": say("move_up", item.label) }, "▲");
    const down = h("button", { type: "button", class: "step down", "aria-label": say("move_down", item.label) }, "▼");
    up.addEventListener("click", () => this.step(row, -1));
    down.addEventListener("click", () => this.step(row, 1));
    handle.addEventListener("keydown", (event) => this.key(event, row));
    handle.addEventListener("blur", () => this.lifted?.row === row && this.drop(row));
    row.addEventListener("pointerdown", (event) => this.drag(event, row));
    row.append(up, down, handle);
    return row;
  }

  private key(event: KeyboardEvent, row: HTMLElement): void {
    const held = this.lifted?.row === row;
    if (event.key === " " || event.key === "Enter") {
      if (held) this.drop(row);
      else this.lift(row);
    } else if (held && event.key === "Escape") this.cancel(row);
    else if (held && event.key === "ArrowUp") this.shift(row, -1);
    else if (held && event.key === "ArrowDown") this.shift(row, 1);
    else return;
    event.preventDefault();
  }

  private lift(row: HTMLElement): void {
    this.lifted = { row, from: this.elements().indexOf(row) };
    this.look(row, true);
    this.tell(say("picked", this.item(row).label, this.lifted.from + 1, this.rows.size));
  }

  private drop(row: HTMLElement): void {
    this.lifted = null;
    this.look(row, false);
    this.settle(row);
    this.tell(say("dropped", this.item(row).label, this.elements().indexOf(row) + 1, this.rows.size));
  }

  private cancel(row: HTMLElement): void {
    const from = this.lifted?.from ?? 0;
    while (this.elements().indexOf(row) > from) this.swap(row, -1);
    while (this.elements().indexOf(row) < from) this.swap(row, 1);
    this.lifted = null;
    this.look(row, false);
    this.number();
    this.tell(say("cancelled", this.item(row).label, from + 1));
  }

  private step(row: HTMLElement, by: 1 | -1): void {
    this.shift(row, by);
    this.settle(row);
  }

  private shift(row: HTMLElement, by: 1 | -1): void {
    this.swap(row, by);
    this.number();
    this.tell(say("position", this.item(row).label, this.elements().indexOf(row) + 1, this.rows.size));
  }

  /** The neighbour changes sides: the row itself stays in the document, so that it keeps focus and pointer. */
  private swap(row: HTMLElement, by: 1 | -1): void {
    const neighbour = by === 1 ? row.nextElementSibling : row.previousElementSibling;
    if (neighbour === null) return;
    if (by === 1) row.before(neighbour);
    else row.after(neighbour);
  }

  private drag(down: PointerEvent, row: HTMLElement): void {
    const target = down.target as HTMLElement;
    const byHandle = target.closest(".handle") !== null;
    // A finger on the row itself scrolls the page.
    if (down.button !== 0 || target.closest(".step") || (down.pointerType === "touch" && !byHandle)) return;
    row.setPointerCapture(down.pointerId);
    let start = down.clientY + scrollY;
    let pointer = down.clientY;
    const follow = (): void => {
      const at = pointer + scrollY;
      for (const by of [-1, 1] as const) {
        const neighbour = by === 1 ? row.nextElementSibling : row.previousElementSibling;
        if (neighbour === null) continue;
        const step = neighbour.getBoundingClientRect().height;
        if (by * (at - start) > step / 2) {
          this.swap(row, by);
          this.number();
          start += by * (step + 8); // the gap between rows
        }
      }
      row.style.transform = `translateY(${at - start}px)`;
    };
    const move = (event: PointerEvent): void => {
      pointer = event.clientY;
      follow();
    };
    // At the edge of the window the page goes along, so that long lists can be dragged through.
    const scrolling = setInterval(() => {
      const before = scrollY;
      if (pointer < TOP_EDGE && pointer < down.clientY) scrollBy(0, -PACE);
      else if (pointer > innerHeight - BOTTOM_EDGE && pointer > down.clientY) scrollBy(0, PACE);
      if (scrollY !== before) follow();
    }, 20);
    const end = (): void => {
      clearInterval(scrolling);
      row.removeEventListener("pointermove", move);
      row.style.transform = "";
      this.look(row, false);
      this.settle(row);
      this.tell(say("dropped", this.item(row).label, this.elements().indexOf(row) + 1, this.rows.size));
    };
    this.look(row, true);
    row.addEventListener("pointermove", move);
    row.addEventListener("lostpointercapture", end, { once: true });
  }

  private settle(row: HTMLElement): void {
    this.mark(row, false);
    this.number();
    this.changed(this.order(), this.unplaced.size === 0);
  }

  private mark(row: HTMLElement, unplaced: boolean): void {
    if (unplaced) {
      this.unplaced.add(row);
      row.querySelector(".label")?.append(h("span", { class: "new" }, say("new_item")));
    } else if (this.unplaced.delete(row)) row.querySelector(".new")?.remove();
    row.classList.toggle("unplaced", unplaced);
  }

  private look(row: HTMLElement, lifted: boolean): void {
    row.classList.toggle("lifted", lifted);
    row.querySelector(".handle")?.setAttribute("aria-pressed", String(lifted));
  }

  private number(): void {
    this.elements().forEach((row, i, all) => {
      const place = row.querySelector(".place");
      if (place) place.textContent = String(i + 1);
      // Not `disabled`: a button that goes dead under the keyboard would lose the focus.
      row.querySelector(".up")?.setAttribute("aria-disabled", String(i === 0));
      row.querySelector(".down")?.setAttribute("aria-disabled", String(i === all.length - 1));
    });
  }

  private tell(text: string): void {
    this.live.textContent = text;
  }

  private elements(): HTMLElement[] {
    return [...this.list.children] as HTMLElement[];
  }

  private item(row: HTMLElement): Alias {
    const found = this.rows.get(row);
    if (found === undefined) throw new Error("a row without an item");
    return found;
  }
}

/** As it was before a reload; else those in order first, then the newcomers. */
function ordered(page: RankingPage, draft: unknown): Alias[] {
  const byId = new Map(page.items.map((item) => [item.id, item]));
  const kept = Array.isArray(draft) && draft.length === page.items.length && draft.every((id) => byId.has(String(id)));
  const ids = kept ? (draft as string[]) : page.fixed;
  const first = ids.map((id) => byId.get(id)).filter((item): item is Alias => item !== undefined);
  return [...first, ...page.items.filter((item) => !first.includes(item))];
}

export function ranking(page: RankingPage, shell: Shell): Shown {
  const complaints = new Complaints();
  const board = new Ranking(page, shell.draft()["order"], (order, placed) => placed && shell.keep({ order }));
  const submit = h("button", { class: "primary", type: "button" }, say("continue"));
  submit.addEventListener("click", () => {
    const missing = board.missing();
    if (complaints.show(missing === null ? {} : { order: say("place_first", missing) })) return;
    submit.disabled = true;
    void shell
      .answer({ order: board.order() })
      .then((errors) => errors && complaints.show(errors))
      .finally(() => (submit.disabled = false));
  });
  const movable = page.items.some((item) => !page.fixed.includes(item.id));
  return {
    elements: [
      html(page.text),
      ...(movable ? [h("p", { class: "quiet" }, say("ranking_help"))] : []),
      complaints.summary,
      h("p", { class: "end-label" }, say("best")),
      board.list,
      h("p", { class: "end-label" }, say("worst")),
      board.live,
      h("div", { class: "actions" }, submit),
    ],
  };
}
