import { h, html, picture } from "../dom";
import type { InstructionsPage } from "../types";
import { say } from "../words";
import type { Shell, Shown } from "./page";

export function instructions(page: InstructionsPage, shell: Shell): Shown {
  const figures = page.figures.map((drawing, i) => h("figure", {}, picture(drawing, say("figure", i + 1))));
  const go = h("button", { class: "primary", type: "button" }, say("continue"));
  go.addEventListener("click", () => {
    go.disabled = true;
    void shell.answer({}).finally(() => (go.disabled = false));
  });
  return { elements: [html(page.text), ...figures, h("div", { class: "actions" }, go)] };
}
