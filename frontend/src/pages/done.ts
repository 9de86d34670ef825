import { h, html } from "../dom";
import type { DonePage } from "../types";
import { say } from "../words";
import type { Shell, Shown } from "./page";

export function done(page: DonePage, shell: Shell): Shown {
  const elements: HTMLElement[] = [html(page.text)];
  if (page.payment) elements.push(h("p", { class: "payment" }, `${say("payment")}: `, h("strong", {}, page.payment)));
  if (page.code) elements.push(code(page.code));
  if (page.url && /^https?:\/\//.test(page.url)) {
    elements.push(
      h("p", { class: "actions" }, h("a", { class: "button primary", href: page.url, rel: "noreferrer" }, say("finish"))),
    );
  }
  if (elements.length > 1 && !page.url && page.id !== "erased") elements.push(h("p", { class: "quiet" }, say("close_window")));
  if (page.erasable) {
    const erase = h("button", { type: "button", class: "grave", click: () => void shell.erase(page.payment) }, say("erase"));
    elements.push(h("div", { class: "erase" }, h("p", {}, say("erase_offer")), erase));
  }
  return { elements };
}

function code(text: string): HTMLElement {
  const copy = h("button", { type: "button" }, say("copy"));
  const output = h("output", { class: "code", id: "completion-code" }, text);
  copy.addEventListener("click", () => {
    // Without permission for the clipboard, mark the code so that one key copies it.
    const mark = (): void => getSelection()?.selectAllChildren(output);
    if (navigator.clipboard === undefined) return mark();
    navigator.clipboard.writeText(text).then(() => (copy.textContent = say("copied")), mark);
  });
  return h("div", { class: "code-box" }, h("label", { for: "completion-code" }, say("code")), h("div", {}, output, copy));
}
