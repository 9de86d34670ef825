/** Hanabi: choose a card, then what to do with it. Notes stay with their card; hints and moves stand in a history. */

import { h, memory } from "../dom";
import type { Card, HanabiView, Move, Start, Tick } from "../types";
import { say } from "../words";
import type { Board, Controls } from "./board";
import { dress, faceOf, knowledge, labelOf, marks, sentence } from "./cards";

interface Choice {
  seat: number;
  slot: number;
}

export class HanabiBoard implements Board {
  readonly element = h("div", { class: "hanabi-board" });
  private readonly turn = h("p", { class: "turn", role: "status" });
  private readonly table = h("div", { class: "table" });
  private readonly hands = h("div", { class: "hands" });
  private readonly moves = h("div", { class: "moves", role: "group", "aria-label": say("actions") });
  private readonly all = h("div", { class: "moves" });
  private readonly past = h("ol", { class: "history", "aria-label": say("history"), tabindex: 0 });
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private view: HanabiView | null = null;
  private chosen: Choice | null = null;
  private you = 0;
  private held = true;
  private drawn = "";
  private sent = false; // a move is on its way

  constructor(private readonly controls: Controls) {
    const more = h("details", { class: "all-moves" }, h("summary", {}, say("all_moves")), this.all);
    this.element.append(
      h("section", { class: "play" }, this.turn, this.table, this.hands, this.moves, more),
      h("section", { class: "past" }, h("h2", {}, say("history")), h("div", { role: "log", "aria-label": say("history") }, this.past)));
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  start(start: Start): void {
    this.you = start.you;
    this.drawn = "";
    this.sent = false;
  }

  tick(tick: Tick): void {
    const view = tick.view as HanabiView;
    const now = JSON.stringify(view);
    if (now === this.drawn) return;
    this.drawn = now;
    if (view.history.length !== this.view?.history.length) this.chosen = null;
    this.view = view;
    this.sent = false;
    this.show(view);
  }

  refused(): void {
    this.sent = false;
    if (this.view !== null) this.offer(this.view);
  }

  hold(held: boolean): void {
    this.held = held;
    this.element.classList.toggle("held", held);
    if (this.view !== null) this.offer(this.view);
  }

  focus(): void {
    const first = this.buttons.get(`${this.you}.0`) ?? this.buttons.values().next().value;
    first?.focus({ preventScroll: true });
  }

  ended(): void {
    this.turn.textContent = "";
  }

  close(): void {
    this.element.remove();
  }

  /** Arrows go from card to card; up and down from hand to hand; Escape lets go of a card. */
  private key(event: KeyboardEvent): void {
    if (event.target instanceof HTMLInputElement) return;
    if (event.key === "Escape") {
      this.choose(null);
      return;
    }
    const at = [...this.buttons].find(([, button]) => button === document.activeElement)?.[0];
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (at === undefined || step === undefined || this.view === null) return;
    event.preventDefault();
    const order = this.seats(this.view);
    const [seat = 0, slot = 0] = at.split(".").map(Number);
    const there = order[order.indexOf(seat) + (step[0] ?? 0)] ?? seat;
    const size = this.view.hands[there]?.length ?? 1;
    const next = Math.max(0, Math.min(size - 1, slot + (step[1] ?? 0)));
    this.buttons.get(`${there}.${next}`)?.focus();
  }

  private show(view: HanabiView): void {
    this.turn.textContent = view.your_turn ? say("your_turn") : say("their_turn");
    this.turn.classList.toggle("yours", view.your_turn);
    this.table.replaceChildren(...piles(view));
    this.deal(view);
    this.offer(view);
    const lines = view.history.map((entry) => this.line(entry));
    const fresh = lines.slice(this.past.children.length);
    if (this.past.children.length > lines.length) this.past.replaceChildren(...lines);
    else this.past.append(...fresh);
    this.past.scrollTop = this.past.scrollHeight;
  }

  private line(entry: HanabiView["history"][number]): HTMLElement {
    const who = entry.seat === undefined ? "" : entry.seat === this.you ? say("you") : this.controls.alias.label;
    return h("li", { class: entry.seat === this.you ? "mine" : "theirs" }, who && h("span", { class: "who" }, who), ` ${sentence(entry)}`);
  }

  /** Others on top, one's own hand at the bottom, as around a table. */
  private seats(view: HanabiView): number[] {
    const others = view.hands.map((_, seat) => seat).filter((seat) => seat !== this.you);
    return [...others, this.you];
  }

  private deal(view: HanabiView): void {
    const focused = [...this.buttons].find(([, button]) => button === document.activeElement)?.[0];
    const writing = document.activeElement instanceof HTMLInputElement ? document.activeElement.id : null;
    this.buttons.clear();
    const two = view.hands.length === 2;
    this.hands.replaceChildren(...this.seats(view).map((seat) => {
      const name = seat === this.you ? say("your_hand") : two ? say("partner_hand") : say("seat_hand", seat + 1);
      const cards = (view.hands[seat] ?? []).map((card, slot) => this.card(card, seat, slot));
      return h("div", { class: "hand", role: "group", "aria-label": name }, h("h2", {}, name), h("div", { class: "cards" }, ...cards));
    }));
    if (focused !== undefined) this.buttons.get(focused)?.focus();
    if (writing !== null) document.getElementById(writing)?.focus();
  }

  private card(card: Card, seat: number, slot: number): HTMLElement {
    const known = knowledge(card);
    const name = `${say("card", slot + 1)}: ${faceOf(card)}. ${say("told", known)}`;
    const chosen = this.chosen?.seat === seat && this.chosen.slot === slot;
    const button = h("button", { type: "button", class: "card", "aria-pressed": String(chosen) });
    const hidden = { "aria-hidden": "true" }; // letters and marks, which the name says in words
    const facts = marks(card);
    facts.setAttribute("aria-hidden", "true");
    button.append(h("span", { class: "unseen" }, name), h("span", { class: "corner", ...hidden }, card.colour ?? ""),
      h("span", { class: "face", ...hidden }, String(card.rank ?? "?")), facts);
    dress(button, card.colour).classList.toggle("back", card.colour === null);
    button.addEventListener("click", () => this.choose(chosen ? null : { seat, slot }));
    this.buttons.set(`${seat}.${slot}`, button);
    return h("div", { class: "slot" }, button, seat === this.you && this.note(card, slot));
  }

  private note(card: Card, slot: number): HTMLElement {
    const key = `${this.controls.key}:note:${card.id ?? `slot${slot}`}`;
    const input = h("input", {
      type: "text", class: "note", id: `note-${card.id ?? slot}`, maxlength: 40, autocomplete: "off",
      "aria-label": say("note", slot + 1), placeholder: say("note_short"), value: memory.read(key, ""),
    });
    input.addEventListener("input", () => memory.write(key, input.value));
    return input;
  }

  private choose(choice: Choice | null): void {
    this.chosen = choice;
    if (this.view === null) return;
    for (const [at, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(choice !== null && at === `${choice.seat}.${choice.slot}`));
    }
    this.deal(this.view);
    this.offer(this.view);
  }

  private offer(view: HanabiView): void {
    const inert = this.held || this.sent || !view.your_turn;
    this.all.replaceChildren(...view.legal.map((move) => this.move(move, inert)));
    if (this.chosen === null) {
      this.moves.replaceChildren(...(view.your_turn ? [h("p", { class: "quiet" }, say("pick_card"))] : []));
      return;
    }
    const { seat, slot } = this.chosen;
    const card = view.hands[seat]?.[slot];
    const fitting = card === undefined ? [] : view.legal.filter((move) => fits(move, card, seat, slot, this.you));
    this.moves.replaceChildren(...fitting.map((move) => this.move(move, inert)));
    if (fitting.length === 0) this.moves.append(h("p", { class: "quiet" }, say("no_move")));
  }

  private move(move: Move, inert: boolean): HTMLElement {
    const button = h("button", { type: "button", disabled: inert, "data-action": move.action }, labelOf(move));
    button.addEventListener("click", () => {
      this.controls.move(move.action);
      this.sent = true;
      this.chosen = null;
      if (this.view !== null) {
        this.deal(this.view);
        this.offer(this.view);
      }
      this.focus();
    });
    return button;
  }
}

/** Whether a move is about this card: playing or discarding one's own, or a hint that touches another's. */
function fits(move: Move, card: Card, seat: number, slot: number, you: number): boolean {
  const kind = move.kind ?? "";
  if (/play|discard/.test(kind)) return seat === you && (move.value ?? move.target) === slot;
  if (seat === you || move.target !== seat) return false;
  return move.value === card.colour || move.value === card.rank;
}

function faceShort(card: Card): string {
  return card.colour === null && card.rank === null ? "?" : `${card.colour ?? "?"}${card.rank ?? "?"}`;
}

function piles(view: HanabiView): HTMLElement[] {
  const fireworks = Object.entries(view.fireworks).map(([colour, height]) => {
    const name = `${faceOf({ colour, rank: null })} ${height}`;
    const parts = [h("span", { class: "corner" }, colour), h("span", { class: "height" }, String(height))];
    return dress(h("span", { class: "pile", role: "img", "aria-label": name }, ...parts), colour);
  });
  const count = (name: string, value: number): HTMLElement =>
    h("span", { class: "pair" }, h("span", { class: "quiet" }, name), h("span", { class: "value" }, String(value)));
  const gone = [...view.discards].sort((a, b) => (faceShort(a) < faceShort(b) ? -1 : 1)).map((card) =>
    dress(h("span", { class: "gone" }, faceShort(card)), card.colour));
  return [
    h("div", { class: "piles", role: "group", "aria-label": say("fireworks") }, ...fireworks),
    h("div", { class: "counts" }, count(say("hints"), view.tokens), count(say("lives"), view.lives), count(say("deck"), view.deck)),
    h("p", { class: "discards" }, h("span", { class: "quiet" }, `${say("discards")} `), ...(gone.length > 0 ? gone : [say("none")])),
  ];
}
