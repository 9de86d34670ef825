/** A slider. It has no answer until it is moved or clicked, so that nobody answers by doing nothing. */

import { h } from "../dom";
import type { Answer, Question } from "../types";
import { say } from "../words";
import type { Field } from "./questions";

export function slider(question: Question, before: Answer, heading: (HTMLElement | string)[]): Field {
  const [min, max] = [question.min ?? 0, question.max ?? 100];
  const input = h("input", {
    type: "range", id: `q-${question.id}`, name: question.id, min, max, step: question.step ?? 1, autocomplete: "off",
  });
  const step = question.step ?? 1;
  input.value = String(min + step * Math.round((max - min) / step / 2)); // the thumb stands in the middle
  const shown = h("output", { for: input.id, class: "slider-value" });
  let moved = false;
  const show = (): void => {
    input.classList.toggle("untouched", !moved);
    shown.textContent = moved ? input.value : "–";
    input.setAttribute("aria-valuetext", moved ? input.value : say("not_moved"));
  };
  const touch = (): void => {
    moved = true;
    show();
  };
  if (typeof before === "number") {
    input.value = String(before);
    moved = true;
  }
  input.addEventListener("input", touch);
  // A click where the thumb stands, or the space bar, answers with that value.
  const settle = (): void => {
    if (moved) return;
    touch();
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  input.addEventListener("pointerup", settle);
  input.addEventListener("keydown", (event) => {
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      settle();
    }
  });
  show();
  const ends = h("div", { class: "ends slider-row" },
    h("span", { class: "end" }, question.left ?? String(min)), input, h("span", { class: "end" }, question.right ?? String(max)));
  const element = h("div", { class: "question slider" }, h("label", { class: "name", for: input.id }, ...heading), ends, shown);
  const answer = (): Answer => (moved ? input.valueAsNumber : null);
  return { question, element, focus: input, answer, problem: () => (question.required && !moved ? say("missing") : null) };
}
