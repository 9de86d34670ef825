/** A question that comes up once, over whatever is shown: by keyboard, finger and screen reader. */

import { h } from "./dom";

export interface Asked {
  title: string;
  text: string;
  yes: string;
  no: string;
}

/** Whether it was answered with yes. Escape is a no, and no is where the focus begins. */
export function ask({ title, text, yes, no }: Asked): Promise<boolean> {
  const stay = h("button", { type: "button", class: "primary" }, no);
  const go = h("button", { type: "button", class: "grave" }, yes);
  const dialog = h("dialog", { class: "ask", "aria-labelledby": "ask-title", "aria-describedby": "ask-text" },
    h("h2", { id: "ask-title" }, title),
    h("p", { id: "ask-text" }, text),
    h("div", { class: "actions" }, stay, go));
  document.body.append(dialog);
  return new Promise((answered) => {
    let said = false;
    stay.addEventListener("click", () => dialog.close());
    go.addEventListener("click", () => {
      said = true;
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      answered(said);
    });
    dialog.showModal();
    stay.focus();
  });
}
