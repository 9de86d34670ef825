/** A page with a time limit: shows what is left, and sends the page when nothing is. */

import { h } from "../dom";
import { clock, say } from "../words";

export function limited(seconds: number, over: () => void): { element: HTMLElement; close(): void } {
  const until = performance.now() + 1000 * seconds;
  const element = h("p", { class: "quiet limit", role: "timer" });
  let sent = 0;
  const show = (): void => {
    const left = (until - performance.now()) / 1000;
    element.textContent = say("time_left", clock(left));
    // Once more after a while: the server counts for itself, and may be a moment behind.
    if (left <= 0 && performance.now() - sent > 2000) {
      sent = performance.now();
      over();
    }
  };
  show();
  const timer = setInterval(show, 500);
  return { element, close: () => clearInterval(timer) };
}
