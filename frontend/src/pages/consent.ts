import { h, html } from "../dom";
import type { Answers, ConsentPage } from "../types";
import { say } from "../words";
import { Complaints } from "./complaints";
import type { Shell, Shown } from "./page";

export function consent(page: ConsentPage, shell: Shell): Shown {
  const complaints = new Complaints();
  const boxes = page.checkboxes.map(({ id, label }) => {
    const input = h("input", { type: "checkbox", id: `q-${id}`, name: id });
    const field = h("div", { class: "tick" }, input, h("label", { for: `q-${id}` }, label));
    complaints.watch(id, label, field, input);
    return { id, input, field };
  });
  const submit = h("button", { class: "primary", type: "submit" }, say("agree"));
  const decline = h("button", { type: "button", class: "decline", click: () => void shell.stop() }, say("decline"));
  const sheet = h("form", { novalidate: true }, complaints.summary, ...boxes.map((b) => b.field),
    h("div", { class: "actions" }, submit, decline));
  sheet.addEventListener("submit", (event) => {
    event.preventDefault();
    const missing = boxes.filter((b) => !b.input.checked).map((b) => [b.id, say("must_agree")] as const);
    if (complaints.show(Object.fromEntries(missing))) return;
    const answers: Answers = Object.fromEntries(boxes.map((b) => [b.id, b.input.checked]));
    submit.disabled = true;
    void shell
      .answer(answers)
      .then((errors) => errors && complaints.show(errors))
      .finally(() => (submit.disabled = false));
  });
  const version = h("p", { class: "quiet" }, say("version", page.version));
  const statement = html(page.text);
  statement.classList.add("statement");
  return { elements: [statement, version, sheet] };
}
