/** What stands over the board before a game begins, and after every pause: a countdown, or a key to press. */

import { h } from "../dom";
import { say } from "../words";

export class Countdown {
  readonly element = h("div", { class: "countdown", role: "status", hidden: true });
  private timer = 0;
  private waiting = false;

  constructor(private readonly ready: () => void) {
    addEventListener("keydown", this.key);
  }

  count(seconds: number): void {
    this.hide();
    const until = performance.now() + 1000 * seconds;
    const show = (): void => {
      const left = Math.ceil((until - performance.now()) / 1000);
      this.element.replaceChildren(h("p", {}, say("begins_in")), h("p", { class: "number" }, String(Math.max(left, 0))));
    };
    show();
    this.element.hidden = false;
    this.timer = window.setInterval(show, 200);
  }

  ask(pressed: boolean): void {
    if (!this.element.hidden && this.waiting !== pressed) return; // shown already
    this.hide();
    this.waiting = !pressed;
    const go = h("button", { type: "button", class: "primary", click: () => this.press() }, say("press_to_begin"));
    this.element.replaceChildren(pressed ? h("p", {}, say("waiting_for_partner")) : h("p", {}, go));
    this.element.hidden = false;
  }

  hide(): void {
    clearInterval(this.timer);
    this.waiting = false;
    this.element.hidden = true;
  }

  close(): void {
    this.hide();
    removeEventListener("keydown", this.key);
  }

  private press(): void {
    if (!this.waiting) return;
    this.waiting = false;
    this.ready();
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (!this.waiting || event.repeat || event.code !== "Space") return;
    event.preventDefault();
    this.press();
  };
}
