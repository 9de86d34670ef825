/** Forms and quizzes: a list of questions; a quiz also shows what was wrong. */

import { h, html } from "../dom";
import type { Answer, Answers, FormPage, QuizPage, Question } from "../types";
import { say } from "../words";
import { Complaints } from "./complaints";
import { holds } from "./conditions";
import { media } from "./media";
import type { Shell, Shown } from "./page";
import { ask, type Field } from "./questions";
import { Timing } from "./timing";

export function form(page: FormPage, shell: Shell): Shown {
  return sheet(page.text, page.questions, shell, say("continue"), null);
}

export function quiz(page: QuizPage, shell: Shell): Shown {
  const shown = sheet(page.text, page.questions, shell, say("check"), page.feedback);
  const tries = h("p", { class: "tries", role: "status" }, say("tries_left", page.tries_left));
  shown.elements.splice(1, 0, tries);
  return shown;
}

function sheet(
  text: string,
  questions: Question[],
  shell: Shell,
  label: string,
  feedback: Record<string, string> | null,
): Shown {
  const complaints = new Complaints();
  const draft = shell.draft();
  const fields = questions.map((question) => {
    const field = ask(question, draft[question.id] ?? null);
    complaints.watch(question.id, question.label, field.element, field.focus);
    if (question.media) field.element.querySelector("legend, .name")?.after(media(question.media));
    const told = feedback?.[question.id];
    if (told !== undefined) field.element.append(h("p", { class: "feedback" }, told || say("not_right")));
    return field;
  });
  const timing = new Timing(fields);
  const submit = h("button", { class: "primary", type: "submit" }, label);
  const paper = h("form", { novalidate: true }, complaints.summary, ...fields.map((f) => f.element),
    h("div", { class: "actions" }, submit));
  const arrange = (): void => open(fields);
  arrange();
  paper.addEventListener("input", () => {
    arrange();
    shell.keep(answersOf(fields));
  });
  paper.addEventListener("submit", (event) => {
    event.preventDefault();
    const errors = Object.fromEntries(
      fields.filter((f) => !f.element.hidden).map((f) => [f.question.id, f.problem()] as const).filter((e): e is [string, string] => e[1] !== null),
    );
    if (complaints.show(errors)) return;
    submit.disabled = true;
    shell.keep(answersOf(fields));
    void shell
      .answer(answersOf(fields.filter((f) => !f.element.hidden)), false, timing.all())
      .then((found) => found && complaints.show(found))
      .finally(() => (submit.disabled = false));
  });
  return { elements: [html(text), paper] };
}

/** Show the questions whose conditions hold. One that is hidden has no answer, for the conditions of others too. */
function open(fields: Field[]): void {
  const byId = new Map(fields.map((field) => [field.question.id, field]));
  const known = (id: string): Answer => {
    const field = byId.get(id);
    return field === undefined || field.element.hidden ? null : field.answer();
  };
  // A condition may ask for a question that stands anywhere on the page: settle in as many rounds as there are fields.
  for (let round = 0; round < fields.length; round += 1) {
    let changed = false;
    for (const field of fields) {
      const hidden = !holds(field.question.when, known);
      changed ||= hidden !== field.element.hidden;
      field.element.hidden = hidden;
    }
    if (!changed) return;
  }
}

function answersOf(fields: Field[]): Answers {
  return Object.fromEntries(fields.map((f) => [f.question.id, f.answer()]));
}
