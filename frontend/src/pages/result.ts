/** The result of a game. Keys that are still pressed from the game do not skip it. */

import { h } from "../dom";
import { say } from "../words";

const SHOWN_MS = 1200; // at least

export class Result {
  readonly element = h("div", { class: "game-end", hidden: true });
  private readonly pressed = new Set<string>();
  private timer = 0;

  constructor() {
    addEventListener("keydown", this.down, true);
    addEventListener("keyup", this.up, true);
  }

  show(text: string, score: number, next: () => Promise<void>): void {
    const go = h("button", { type: "button", class: "primary", disabled: true }, say("continue"));
    go.addEventListener("click", () => {
      go.disabled = true;
      void next().finally(() => (go.disabled = false));
    });
    this.element.replaceChildren(h("p", { role: "status" }, h("strong", {}, text), ` ${say("final_score", score)}`), go);
    this.element.hidden = false;
    this.element.scrollIntoView({ block: "nearest" });
    const shown = performance.now();
    const arm = (): void => {
      // Whoever keeps a key down is still playing; a finger on a button has no key to let go of.
      if (performance.now() - shown < SHOWN_MS || this.pressed.size > 0) return;
      clearInterval(this.timer);
      go.disabled = false;
      go.focus({ preventScroll: true });
    };
    clearInterval(this.timer);
    this.timer = window.setInterval(arm, 100);
  }

  say(text: string, button: HTMLElement): void {
    clearInterval(this.timer);
    this.element.replaceChildren(h("p", { role: "status" }, text), button);
    this.element.hidden = false;
  }

  close(): void {
    clearInterval(this.timer);
    removeEventListener("keydown", this.down, true);
    removeEventListener("keyup", this.up, true);
  }

  private readonly down = (event: KeyboardEvent): void => {
    this.pressed.add(event.code);
    // A key that repeats presses a button again and again.
    if (!this.element.hidden && event.repeat) event.preventDefault();
  };

  private readonly up = (event: KeyboardEvent): void => {
    this.pressed.delete(event.code);
  };
}
