/** The kitchen of language models with a person in it: a picture, what one can do, and the talk. */

import { h, picture } from "../dom";
import type { KitchenView, Move, Start, Tick } from "../types";
import { say } from "../words";
import type { Board, Controls } from "./board";

const LONGEST_MESSAGE = 500;

export class KitchenBoard implements Board {
  readonly element = h("div", { class: "kitchen-board" });
  private readonly scene = h("div", { class: "scene" });
  private readonly moves = h("div", { class: "moves", role: "group", "aria-label": say("actions") });
  private readonly talk = h("ol", { class: "talk", role: "log", "aria-label": say("messages"), tabindex: 0 });
  private readonly input = h("input", { type: "text", id: "chat", maxlength: LONGEST_MESSAGE, autocomplete: "off" });
  private readonly send = h("button", { type: "submit" }, say("send"));
  private you = 0;
  private drawn = "";
  private offered = "";
  private said = -1;
  private held = true;

  constructor(private readonly controls: Controls) {
    const chat = h("form", { class: "chat" }, h("label", { for: "chat" }, say("say")), h("div", {}, this.input, this.send));
    chat.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.input.value.trim();
      if (text === "" || this.held) return;
      controls.chat(text);
      this.input.value = "";
    });
    this.element.append(
      h("section", {}, this.scene, h("h2", {}, say("actions")), this.moves),
      h("section", {}, h("h2", {}, say("messages")), this.talk, chat));
  }

  start(start: Start): void {
    this.you = start.you;
  }

  tick(tick: Tick): void {
    const view = tick.view as KitchenView;
    // Drawn anew only when it changed: a tick must take neither the focus nor what is being read aloud.
    const drawing = `${view.svg}\n${view.text}`;
    if (drawing !== this.drawn) this.show(view);
    this.drawn = drawing;
    const offer = JSON.stringify(view.legal);
    if (offer !== this.offered) this.offer(view.legal);
    this.offered = offer;
    if (view.messages.length !== this.said) this.listen(view.messages);
    this.said = view.messages.length;
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

  private show(view: KitchenView): void {
    const text = h("p", { class: "scene-text" }, view.text);
    if (view.svg) this.scene.replaceChildren(picture(view.svg, view.text), text);
    else this.scene.replaceChildren(text);
  }

  private offer(legal: Move[]): void {
    const focused = document.activeElement?.getAttribute("data-action");
    const buttons = legal.map((move) => {
      const button = h("button", { type: "button", "data-action": move.action }, move.label);
      button.addEventListener("click", () => !this.held && this.controls.move(move.action));
      return button;
    });
    const inside = this.moves.contains(document.activeElement);
    this.moves.replaceChildren(...buttons);
    if (inside) (buttons.find((b) => b.dataset["action"] === focused) ?? buttons[0])?.focus();
  }

  private listen(messages: KitchenView["messages"]): void {
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
