/** A game shown as a picture with its legal actions as buttons, for games without a board of their own and the kitchen with its messages. */

import { h, picture } from "../dom";
import { paint } from "../shapes";
import type { Message, Move, SceneView, Start, Tick } from "../types";
import { say } from "../words";
import type { Board, Controls } from "./board";

const LONGEST_MESSAGE = 500;
const YOURS = "#23262b";
const MANY = 6; // alike choices that fold into one line
const SEAT_COLOURS = ["#0072b2", "#e07b00", "#009e73", "#a3478f", "#56b4e9", "#8a6d00"]; // as the server draws them

export class SceneBoard implements Board {
  readonly element: HTMLElement;
  private readonly scene = h("div", { class: "scene" });
  private readonly order = h("div", { class: "order" });
  private readonly status = h("p", { class: "turn", role: "status" });
  private readonly moves = h("div", { class: "moves", role: "group", "aria-label": say("actions") });
  private readonly talk = h("ol", { class: "talk", "aria-label": say("messages"), tabindex: 0 });
  private readonly input = h("input", { type: "text", id: "chat", maxlength: LONGEST_MESSAGE, autocomplete: "off" });
  private readonly send = h("button", { type: "submit" }, say("send"));
  private readonly requests = h("div", { class: "moves" });
  private readonly asking = h("details", { class: "all-moves" }, h("summary", {}, say("ask_partner")), this.requests);
  private readonly shown = new Map<HTMLElement, string>();
  private you = 0;
  private said = -1;
  private held = true;

  constructor(private readonly controls: Controls, messages: boolean) {
    const game = h("section", {}, this.order, this.scene, this.status, h("h2", {}, say("actions")), this.moves);
    this.element = h("div", { class: messages ? "kitchen-board" : "scene-board" }, game);
    if (messages) this.element.append(this.messages());
  }

  /** What was said, a field to say something, and ready-made requests. */
  private messages(): HTMLElement {
    const chat = h("form", { class: "chat" }, h("label", { for: "chat" }, say("say")), h("div", {}, this.input, this.send));
    chat.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.input.value.trim();
      if (text === "" || this.held) return;
      this.controls.chat(text);
      this.input.value = "";
    });
    return h("section", {}, h("h2", {}, say("messages")), h("div", { role: "log", "aria-label": say("messages") }, this.talk), chat, this.asking);
  }

  start(start: Start): void {
    this.you = start.you;
  }

  tick(tick: Tick): void {
    const view = tick.view as SceneView;
    // Drawn anew only when it changed: a tick must take neither the focus nor what is being read aloud.
    this.renew(this.scene, [view.svg, view.text], () => drawing(view, (svg) => this.dressed(svg)));
    this.renew(this.order, [view.role, view.order], () => recipe(view));
    this.renew(this.moves, view.legal, () => this.choices(view.legal, (action) => this.controls.move(action)));
    this.renew(this.requests, view.requests, () => this.choices(view.requests ?? [], (text) => this.controls.chat(text)));
    this.asking.hidden = (view.requests ?? []).length === 0;
    const words = [view.doing ? say("busy", view.doing) : view.your_turn === false ? "" : say("your_turn")];
    if (view.steps_left !== undefined) words.push(say("steps_left", view.steps_left));
    const status = words.filter(Boolean).join(" · ");
    if (this.status.textContent !== status) this.status.textContent = status;
    this.status.classList.toggle("yours", view.your_turn === true);
    const messages = view.messages ?? [];
    if (messages.length !== this.said) this.listen(messages);
    this.said = messages.length;
  }

  hold(held: boolean): void {
    this.held = held;
    this.element.classList.toggle("held", held);
  }

  focus(): void {
    // Never the text field: on a phone that would open the keyboard over the game.
    this.moves.querySelector("button")?.focus({ preventScroll: true });
  }

  close(): void {
    this.element.remove();
  }

  /** Cooks in the colours that the page speaks of: oneself dark, the partner in its own. */
  private dressed(svg: string): string {
    const mine = svg.replaceAll(SEAT_COLOURS[this.you] ?? "", YOURS);
    const others = SEAT_COLOURS.filter((_, seat) => seat !== this.you);
    return mine.replace(new RegExp(others.join("|"), "g"), paint(this.controls.alias.colour));
  }

  /** Fill a part of the board, keeping the focus on the same choice and what was unfolded open. */
  private renew(part: HTMLElement, from: unknown, make: () => Node[]): void {
    const now = JSON.stringify(from ?? null);
    if (this.shown.get(part) === now) return;
    this.shown.set(part, now);
    const inside = part.contains(document.activeElement);
    const focused = document.activeElement?.getAttribute("data-action");
    const open = new Set([...part.querySelectorAll("details[open]")].map((found) => found.getAttribute("data-group")));
    part.replaceChildren(...make());
    for (const found of part.querySelectorAll("details")) found.open = open.has(found.getAttribute("data-group"));
    if (!inside) return;
    const buttons = [...part.querySelectorAll("button")];
    (buttons.find((button) => button.dataset["action"] === focused) ?? buttons[0])?.focus({ preventScroll: true });
  }

  /** Buttons; many of one kind at one place, such as all ingredients, fold into one line. */
  private choices(offered: Move[], choose: (action: string) => void): Node[] {
    const groups = new Map<string, Move[]>();
    for (const move of offered) {
      const key = move.kind === undefined ? move.action : `${move.kind} ${move.value ?? ""}`;
      groups.set(key, [...(groups.get(key) ?? []), move]);
    }
    return [...groups].flatMap(([key, moves]): Node[] => {
      const buttons = moves.map((move) => {
        const button = h("button", { type: "button", "data-action": move.action }, move.label);
        button.addEventListener("click", () => !this.held && choose(move.action));
        return button;
      });
      if (moves.length <= MANY) return buttons;
      const summary = h("summary", {}, `${moves[0]?.group ?? key} (${moves.length})`);
      return [h("details", { class: "all-moves", "data-group": key }, summary, h("div", { class: "moves" }, ...buttons))];
    });
  }

  private listen(messages: Message[]): void {
    if (messages.length === 0) {
      this.talk.replaceChildren(h("li", { class: "quiet" }, say("no_messages")));
      return;
    }
    if (this.said <= 0 || messages.length < this.said) this.talk.replaceChildren();
    const known = this.talk.children.length;
    for (const { seat, text } of messages.slice(known)) {
      const mine = seat === this.you;
      const who = mine ? say("you") : this.controls.alias.label;
      this.talk.append(h("li", { class: mine ? "mine" : "theirs" }, h("span", { class: "who" }, who), ` ${text}`));
    }
    this.talk.scrollTop = this.talk.scrollHeight;
  }
}

function drawing(view: SceneView, dressed: (svg: string) => string): Node[] {
  const text = h("p", { class: "scene-text" }, view.text);
  if (!view.svg) return [text];
  const words = h("details", { class: "all-moves", "data-group": "words" }, h("summary", {}, say("in_words")), text);
  return [picture(dressed(view.svg), view.text), words];
}

/** Who one is, and what is to be cooked, for those who know it. */
function recipe(view: SceneView): Node[] {
  if (view.role === undefined) return [];
  if (view.order === undefined) return [h("p", {}, h("strong", {}, say("role", view.role)))];
  const [dish, ...lines] = view.order;
  const known = dish === undefined ? say("no_order") : say("order", dish);
  const head = h("p", {}, h("strong", {}, say("role", view.role)), ` ${known}`);
  return lines.length === 0 ? [head] : [head, h("ol", {}, ...lines.map((line) => h("li", {}, line)))];
}
