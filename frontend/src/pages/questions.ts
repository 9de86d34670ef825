/** One question as a field: radio buttons for scales and choices, boxes for several, inputs for numbers and text, sliders. */

import { h } from "../dom";
import type { Answer, Question } from "../types";
import { say } from "../words";
import { slider } from "./slider";

export interface Field {
  question: Question;
  element: HTMLElement;
  focus: HTMLElement; // where a complaint leads
  answer(): Answer;
  problem(): string | null;
}

const LONGEST_RADIO_LIST = 8;
const LONGEST_TEXT = 4000;

export function ask(question: Question, before: Answer): Field {
  switch (question.type) {
    case "likert":
    case "two_sided":
      return scale(question, before);
    case "choice":
      return (question.options ?? []).length > LONGEST_RADIO_LIST ? dropDown(question, before) : choice(question, before);
    case "multi":
      return several(question, before);
    case "number":
      return number(question, before);
    case "text":
      return text(question, before);
    case "slider":
      return slider(question, before, heading(question));
  }
}

function heading(question: Question): (HTMLElement | string)[] {
  const mark = question.required ? h("span", { class: "mark", title: say("required") }, " *") : null;
  return mark === null ? [question.label, h("span", { class: "quiet" }, ` (${say("optional")})`)] : [question.label, mark];
}

function missing(question: Question, answer: Answer): string | null {
  const empty = answer === null || answer === "" || (Array.isArray(answer) && answer.length === 0);
  return question.required && empty ? say("missing") : null;
}

interface Option {
  value: string | number;
  label: string;
}

/** A group of radio buttons; `element` is its fieldset. */
function radios(question: Question, options: Option[], before: Answer, kind: string): Field & { group: HTMLElement } {
  const inputs = options.map(({ value }, i) =>
    h("input", {
      type: "radio", name: question.id, id: `q-${question.id}-${i}`, value, required: question.required === true,
      checked: before !== null && String(before) === String(value),
    }),
  );
  const group = h("div", { class: `options ${kind}` },
    ...inputs.map((input, i) => h("label", { for: input.id }, input, h("span", {}, options[i]?.label ?? ""))));
  const element = h("fieldset", { class: `question ${question.type}` }, h("legend", {}, ...heading(question)), group);
  const answer = (): Answer => options[inputs.findIndex((input) => input.checked)]?.value ?? null;
  return { question, element, group, focus: inputs[0] ?? element, answer, problem: () => missing(question, answer()) };
}

/** Points in a row. With a text for every point they stand below it (and on phones in a list); else both ends are named. */
function scale(question: Question, before: Answer): Field {
  const points = question.points ?? question.labels?.length ?? 5;
  const worded = question.labels?.length === points ? question.labels : null;
  const options = Array.from({ length: points }, (_, i) => ({ value: i + 1, label: worded?.[i] ?? String(i + 1) }));
  const field = radios(question, options, before, worded ? "worded" : "plain");
  field.group.style.setProperty("--points", String(points));
  if (!worded && (question.left || question.right)) {
    const [left, right] = [question.left ?? "", question.right ?? ""];
    const ends = h("div", { class: "ends" }, h("span", { class: "end" }, left), field.group, h("span", { class: "end" }, right));
    field.element.append(ends);
    // Heard without the row in sight, a bare "1" says nothing.
    const inputs = field.group.querySelectorAll("input");
    inputs[0]?.setAttribute("aria-label", `1: ${left}`);
    inputs[points - 1]?.setAttribute("aria-label", `${points}: ${right}`);
  }
  return field;
}

function choice(question: Question, before: Answer): Field {
  return radios(question, question.options ?? [], before, "list");
}

function dropDown(question: Question, before: Answer): Field {
  const options = question.options ?? [];
  const select = h("select", { id: `q-${question.id}`, name: question.id, required: question.required === true },
    h("option", { value: "" }, say("choose")),
    ...options.map((o, i) => h("option", { value: i, selected: before !== null && String(before) === String(o.value) }, o.label)));
  const element = h("div", { class: "question choice" }, h("label", { class: "name", for: select.id }, ...heading(question)), select);
  const answer = (): Answer => (select.value === "" ? null : (options[Number(select.value)]?.value ?? null));
  return { question, element, focus: select, answer, problem: () => missing(question, answer()) };
}

function several(question: Question, before: Answer): Field {
  const options = question.options ?? [];
  const chosen = new Set(Array.isArray(before) ? before.map(String) : []);
  const inputs = options.map(({ value }, i) =>
    h("input", { type: "checkbox", name: question.id, id: `q-${question.id}-${i}`, checked: chosen.has(String(value)) }),
  );
  const group = h("div", { class: "options list" },
    ...inputs.map((input, i) => h("label", { for: input.id }, input, h("span", {}, options[i]?.label ?? ""))));
  const element = h("fieldset", { class: "question multi" }, h("legend", {}, ...heading(question)), group);
  const answer = (): Answer => options.filter((_, i) => inputs[i]?.checked).map((o) => o.value);
  return { question, element, focus: inputs[0] ?? element, answer, problem: () => missing(question, answer()) };
}

function number(question: Question, before: Answer): Field {
  const { min, max } = question;
  const input = h("input", {
    type: "number", id: `q-${question.id}`, name: question.id, min, max, step: "any", inputmode: "decimal",
    required: question.required === true, autocomplete: "off", value: typeof before === "number" ? before : null,
  });
  const element = h("div", { class: "question number" }, h("label", { class: "name", for: input.id }, ...heading(question)), input);
  const answer = (): Answer => (Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : null);
  const problem = (): string | null => {
    if (input.validity.badInput) return say("not_number");
    const value = answer();
    if (typeof value !== "number") return missing(question, null);
    if (typeof min === "number" && value < min) return say("too_small", min);
    if (typeof max === "number" && value > max) return say("too_large", max);
    return null;
  };
  return { question, element, focus: input, answer, problem };
}

function text(question: Question, before: Answer): Field {
  const input = h("textarea", {
    id: `q-${question.id}`, name: question.id, rows: 3, required: question.required === true,
    maxlength: question.max ?? LONGEST_TEXT,
  });
  input.value = typeof before === "string" ? before : "";
  const element = h("div", { class: "question text" }, h("label", { class: "name", for: input.id }, ...heading(question)), input);
  const answer = (): Answer => input.value.trim() || null;
  return { question, element, focus: input, answer, problem: () => missing(question, answer()) };
}
