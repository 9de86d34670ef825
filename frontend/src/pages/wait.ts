import { h, html } from "../dom";
import type { WaitPage } from "../types";
import { clock, say } from "../words";
import type { Shell, Shown } from "./page";

const ASK_EVERY_S = 3;

export function wait(page: WaitPage, shell: Shell): Shown {
  const until = performance.now() + 1000 * page.until_s;
  const left = h("p", { class: "quiet" });
  let ticks = 0;
  const show = (): void => {
    const seconds = (until - performance.now()) / 1000;
    left.textContent = seconds > 0 ? say("wait_left", clock(seconds)) : "";
  };
  show();
  const timer = setInterval(() => {
    show();
    ticks += 1;
    if (ticks % ASK_EVERY_S === 0) void shell.refresh();
  }, 1000);
  return {
    elements: [
      html(page.text),
      h("div", { class: "waiting" }, h("span", { class: "spinner", "aria-hidden": "true" }),
        h("p", { role: "status" }, page.message || say("waiting"))),
      left,
    ],
    close: () => clearInterval(timer),
  };
}
