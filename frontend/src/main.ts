/** The shell: asks the server which page comes now, shows it, sends what was answered. */

import { Api, type Reply } from "./api";
import { device, screen } from "./device";
import { ask } from "./ask";
import { h, memory } from "./dom";
import { PAGES } from "./pages";
import { media } from "./pages/media";
import type { Shell, Shown } from "./pages/page";
import { limited } from "./pages/limit";
import { allLoaded, load } from "./plugins";
import { study } from "./site";
import type { Answers, ItemTimes, PageView, QuizPage, State } from "./types";
import { direction, languageName, say, speak } from "./words";

class App implements Shell {
  private shown: Shown | null = null;
  private state: State | null = null;
  private latest: State | null = null; // the last that the server has sent, perhaps not yet shown
  private since = 0;
  private busy = false;
  private left = false; // stopped taking part: replies that were on their way count no more
  private readonly banner = h("div", { class: "banner", role: "status", hidden: true });
  private readonly main = h("main", { class: "page" });
  private readonly head = h("header", { class: "top" });
  private readonly api: Api;

  constructor(root: HTMLElement, readonly study: string) {
    this.api = new Api(study, (now) => this.tell(now ? say("retrying") : null));
    root.append(this.head, this.banner, this.main);
  }

  async next(): Promise<void> {
    this.take(await this.api.state());
    notNew();
  }

  async refresh(): Promise<void> {
    const reply = await this.api.state();
    if (reply.kind !== "state" || this.state === null) this.take(reply);
    else if (told(reply.state.page) !== told(this.state.page)) this.show(reply.state);
  }

  async answer(
    answers: Answers, timedOut = false, items: Record<string, ItemTimes> = {},
  ): Promise<Record<string, string> | null> {
    if (this.busy || this.state === null) return null;
    const { id: page } = this.state.page;
    const left = (this.state.page as Partial<QuizPage>).tries_left ?? null;
    this.busy = true;
    this.main.setAttribute("aria-busy", "true");
    try {
      const more = { items, ...(timedOut ? { timed_out: true } : {}), ...(this.state.device ? { device: device() } : {}) };
      const reply = await this.api.answer(page, answers, (performance.now() - this.since) / 1000, left, more);
      if (reply.kind === "errors") return reply.errors;
      if (reply.kind === "state" && reply.state.page.id !== page) this.forget(page);
      this.take(reply);
      if (reply.kind === "state" && reply.conflict) this.tell(say("answered_before"));
      return null;
    } finally {
      this.busy = false;
      this.main.removeAttribute("aria-busy");
    }
  }

  async stop(): Promise<void> {
    const sure = { title: say("stop_sure"), text: say("stop_text"), yes: say("stop_yes"), no: say("stop_no") };
    if (!(await ask(sure))) {
      this.shown?.opened?.(); // back to the game, so that its keys are its own again
      return;
    }
    this.left = true;
    memory.forgetAll(`${this.study}:`);
    this.take(await this.api.withdraw());
  }

  async erase(owed: string | null): Promise<void> {
    const text = owed === null ? say("erase_text") : `${say("erase_text")} ${say("erase_owed", owed)}`;
    if (!(await ask({ title: say("erase_sure"), text, yes: say("erase"), no: say("erase_no") }))) return;
    const reply = await this.api.erase();
    memory.forgetAll(`${this.study}:`);
    history.replaceState(null, "", location.pathname); // a recruiter's id in the address would be stored again
    // The first reply got lost on its way: whoever is not known any more was erased.
    if (reply.kind === "refused" && reply.status === 401) this.plain(say("erased"));
    else this.take(reply);
  }

  draft(): Answers {
    return memory.read<Answers>(this.key(), {});
  }

  keep(answers: Answers): void {
    memory.write(this.key(), answers);
  }

  key(page = this.state?.page.id ?? ""): string {
    return `${this.study}:${page}`;
  }

  private forget(page: string): void {
    memory.forget(this.key(page));
  }

  private tell(message: string | null): void {
    this.banner.hidden = message === null;
    this.banner.textContent = message ?? "";
  }

  private take(reply: Reply): void {
    if (reply.kind === "state") this.show(reply.state);
    else if (reply.kind === "refused") this.refuse(reply.status, reply.message);
    else this.refuse(422, Object.values(reply.errors).join(" "));
  }

  private refuse(status: number, message: string): void {
    this.shown?.close?.();
    this.shown = null;
    this.plain(status === 401 || status === 404 ? say("no_session") : say("failed", message));
    const again = h("button", { class: "primary", type: "button", click: () => location.reload() }, say("reload"));
    this.main.append(h("p", {}, again));
  }

  private plain(text: string): void {
    this.main.replaceChildren(h("h1", { tabindex: -1 }, say("study")), h("p", { role: "alert" }, text));
  }

  private show(state: State): void {
    if (this.left && state.page.kind !== "done") return;
    const scripts = state.page.scripts ?? [];
    this.latest = state;
    if (!allLoaded(scripts)) {
      const failed = (error: unknown): void => this.refuse(500, String(error));
      void load(scripts).then(() => this.latest === state && this.show(state), failed);
      return;
    }
    this.shown?.close?.();
    const moved = this.state !== null;
    this.state = state;
    // Whoever is asked for consent is new here: nothing is shown to them of who sat here before.
    if (state.page.kind === "consent") memory.forgetAll(`${this.study}:`);
    this.since = performance.now();
    speak(state.language, state.words);
    document.documentElement.lang = state.language;
    document.documentElement.dir = direction(state.language);
    document.title = state.page.title || say("study");
    this.fillHead(state);
    const heading = h("h1", { tabindex: -1 }, state.page.title);
    this.main.className = `page is-${state.page.kind}`;
    this.main.dataset["page"] = state.page.id;
    this.main.replaceChildren(heading);
    try {
      this.shown = render(state.page, this);
    } catch (error) { // a module of another package
      this.refuse(500, String(error));
      return;
    }
    const [text, ...rest] = this.shown.elements;
    this.main.append(...(text === undefined ? [] : [text]), ...(state.page.media ?? []).map(media), ...rest);
    this.addFrame(state, heading);
    this.shown.opened?.();
    // A page that has no wish of its own starts at its heading, so that screen readers say where one is.
    if (moved && !this.main.contains(document.activeElement)) heading.focus({ preventScroll: true });
    if (moved) scrollTo(0, 0);
  }

  /** What stands around any page: a note that this is a test, the time left, what the device lacks. */
  private addFrame(state: State, heading: HTMLElement): void {
    if (state.test) heading.before(h("p", { class: "banner test", role: "note" }, say("test_mode")));
    const parts: { element: HTMLElement; close(): void }[] = [];
    const left = state.page.left_s;
    if (left !== undefined && left !== null) parts.push(limited(left, () => void this.answer(this.draft(), true)));
    if (state.device && state.page.kind === "consent") {
      parts.push(screen(state.device, (stopped) => {
        for (const button of this.main.querySelectorAll<HTMLButtonElement>("button[type=submit]")) button.disabled = stopped;
      }));
    }
    heading.after(...parts.map((part) => part.element));
    const close = this.shown?.close;
    if (this.shown !== null && parts.length > 0) {
      this.shown.close = () => {
        for (const part of parts) part.close();
        close?.();
      };
    }
  }

  private fillHead(state: State): void {
    const { done: past, of } = state.progress;
    const bar = h("progress", { max: Math.max(of, 1), value: past, "aria-label": say("progress") });
    const count = h("span", { class: "count", "aria-hidden": "true" }, `${past} / ${of}`);
    const parts: Node[] = of > 0 ? [bar, count] : []; // nobody's page, of those who cannot take part
    if (state.languages.length > 1) parts.push(this.languages(state));
    // Who is asked for consent says no on that page.
    if (state.page.kind !== "done" && state.page.kind !== "consent") {
      const short = h("span", { class: "short", "aria-hidden": "true" }, say("stop_short"));
      parts.push(h("button", { type: "button", class: "stop", "aria-label": say("stop_yes"), click: () => void this.stop() },
        h("span", { class: "full" }, say("stop_yes")), short));
    }
    this.head.replaceChildren(...parts);
  }

  private languages(state: State): HTMLElement {
    const choose = h("select", { name: "language", "aria-label": say("language") });
    for (const code of state.languages) {
      choose.append(h("option", { value: code, lang: code, selected: code === state.language }, languageName(code)));
    }
    choose.addEventListener("change", () => {
      void this.api.language(choose.value).then((reply) => this.take(reply));
    });
    return h("label", { class: "language" }, h("span", { class: "quiet" }, say("language")), choose);
  }
}

/** `?new` starts one visit, and a re-entry link opens one, not another one with every reload. */
function notNew(): void {
  const address = new URL(location.href);
  const once = ["new", "enter"].filter((name) => address.searchParams.has(name));
  if (once.length === 0) return;
  for (const name of once) address.searchParams.delete(name);
  history.replaceState(null, "", address);
}

/** What a page says, less the time that runs on it. */
function told(page: PageView): string {
  return JSON.stringify({ ...page, until_s: null, left_s: null });
}

function render(page: PageView, shell: Shell): Shown {
  const show = PAGES[page.kind];
  if (show === undefined) throw new Error(`no page of the kind ${page.kind}`);
  return show(page, shell);
}

const root = document.getElementById("app");
if (root !== null && study !== null) void new App(root, study).next();
