// The browser's part of the page: a number for each option, and how many points are left.
export const pages = {
  allocation(page, shell, { h, html, say, complaints }) {
    const wrong = complaints();
    const draft = shell.draft();
    const fields = page.options.map(({ value, label }) => {
      const input = h("input", { type: "number", id: `q-${value}`, min: 0, max: page.points, value: draft[value] ?? "" });
      const field = h("div", { class: "question" }, h("p", {}, h("label", { for: `q-${value}` }, label)), input);
      wrong.watch(value, label, field, input);
      return { value, input, field };
    });
    const answers = () => Object.fromEntries(
      fields.map(({ value, input }) => [value, input.value === "" ? null : Number(input.value)]));
    const left = h("p", { role: "status", class: "quiet" });
    const count = () => {
      const spent = Object.values(answers()).reduce((sum, points) => sum + (points ?? 0), 0);
      left.textContent = `${page.points - spent} / ${page.points}`;
    };
    count();
    const go = h("button", { class: "primary", type: "submit" }, say("continue"));
    const form = h("form", { novalidate: true }, wrong.summary, ...fields.map(({ field }) => field), left,
      h("div", { class: "actions" }, go));
    form.addEventListener("input", () => {
      count();
      shell.keep(answers());
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const errors = await shell.answer(answers());
      if (errors !== null) wrong.show(errors);
    });
    return { elements: [html(page.text), form] };
  },
};
