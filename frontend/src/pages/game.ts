/** A game: its board, who the partner is, score and time, flags, and what happens to the line. */

import { h, html } from "../dom";
import { BOARDS } from "../games";
import type { Board, Controls } from "../games/board";
import { Line } from "../games/socket";
import { badge } from "../shapes";
import type { FromServer, GamePage } from "../types";
import { clock, reasonOf, say } from "../words";
import { Countdown } from "./countdown";
import type { Shell, Shown } from "./page";
import { Result } from "./result";

const SILENCE_MS = 1000; // without a tick in real time: the line is slow, whatever the browser says

function boardOf(page: GamePage, controls: Controls): Board {
  const make = BOARDS[page.game];
  if (make === undefined) throw new Error(`no board ${page.game}`);
  return make(controls);
}

class Round {
  readonly banner = h("div", { class: "line-state", role: "status" });
  readonly score = h("output", { class: "value" }, "0");
  readonly time = h("span", { class: "value", role: "timer" });
  readonly clock = h("span", { class: "pair", hidden: true }, h("span", { class: "quiet" }, say("time")), this.time);
  readonly noted = h("span", { class: "quiet", role: "status" });
  readonly board: Board;
  readonly flags: HTMLButtonElement[];
  readonly result = new Result();
  readonly countdown = new Countdown(() => this.line.ready());
  private readonly line: Line;
  private t = -1;
  private grace = 0;
  private silence = 0;
  private readonly realTime: boolean;

  constructor(page: GamePage, private readonly shell: Shell) {
    this.realTime = page.game === "overcooked" || page.game === "rescue";
    this.board = boardOf(page, {
      act: (action) => void this.line.act(action),
      move: (action) => void this.line.submit({ type: "act", action, t: this.t }),
      chat: (text) => void this.line.submit({ type: "chat", text }),
      alias: page.alias,
      key: shell.key(),
    });
    this.flags = page.flags.map(({ id, label }) => {
      const button = h("button", { type: "button", class: "flag" }, "⚑ ", label);
      button.addEventListener("click", () => {
        this.line.submit({ type: "flag", id, t: this.t });
        this.noted.textContent = say("flagged", label);
        window.setTimeout(() => (this.noted.textContent = ""), 2500);
        // Back to the game, so that the next space bar does not flag again.
        this.board.focus();
      });
      return button;
    });
    this.board.hold(true);
    this.line = new Line(page.socket, page.id, `${shell.study}:seq`, {
      message: (message) => this.hear(message),
      line: (state) => this.connection(state),
      stuck: () => void this.shell.refresh(),
      refused: (reason) => {
        this.stop(say("refused", reason));
        void this.shell.refresh(); // it may be over, and another page be due
      },
    });
  }

  close(): void {
    this.line.close();
    this.board.close();
    this.countdown.close();
    this.result.close();
    clearInterval(this.grace);
    clearTimeout(this.silence);
  }

  private connection(state: "connecting" | "open" | "lost"): void {
    clearInterval(this.grace);
    clearTimeout(this.silence);
    if (state !== "open") this.countdown.hide();
    this.tell(state === "open" ? null : say(state), state === "lost");
    this.board.hold(state !== "open");
  }

  private hear(message: Exclude<FromServer, { type: "ack" | "pong" | "moved" }>): void {
    switch (message.type) {
      case "start":
        this.board.start(message);
        break;
      case "tick":
        if (this.grace) this.connection("open");
        this.grace = 0;
        this.countdown.hide();
        if (this.realTime) this.board.hold(false);
        this.listen(message.t > this.t && this.t >= 0);
        this.t = message.t;
        this.board.element.dataset["t"] = String(message.t);
        this.score.textContent = String(message.score);
        this.clock.hidden = message.left_s === null; // games by turns may have no clock
        if (message.left_s !== null) this.time.textContent = clock(message.left_s);
        this.board.tick(message);
        break;
      case "pause":
        this.pause(message.reason, message.grace_s);
        break;
      case "countdown":
        this.connection("open");
        this.board.hold(true);
        this.countdown.count(message.seconds);
        break;
      case "ready":
        this.connection("open");
        this.board.hold(true);
        this.countdown.ask(message.pressed);
        break;
      case "end":
        this.finish(message.score, message.reason === "stopped");
        break;
      case "elsewhere":
        this.elsewhere();
        break;
      case "error":
        this.tell(say("failed", message.message), true);
        this.board.refused?.();
        window.setTimeout(() => this.banner.textContent === say("failed", message.message) && this.tell(null, false), 4000);
        break;
    }
  }

  /** In real time ticks follow one another: when none comes, the picture is old, and no key must be lost to it. */
  private listen(running: boolean): void {
    clearTimeout(this.silence);
    if (this.realTime && running) this.silence = window.setTimeout(() => this.pause("line", 0), SILENCE_MS);
  }

  private pause(reason: string, seconds: number): void {
    let left = Math.ceil(seconds);
    clearInterval(this.grace);
    clearTimeout(this.silence);
    this.countdown.hide();
    this.board.hold(true);
    const why = reasonOf(reason);
    const show = (): void => this.tell(left > 0 ? say("paused_grace", why, left) : say("paused", why), true);
    show();
    this.grace = window.setInterval(() => {
      left -= 1;
      show();
      if (left <= 0) clearInterval(this.grace);
    }, 1000);
  }

  private finish(score: number, left: boolean): void {
    this.score.textContent = String(score);
    this.stop(null);
    this.board.element.classList.add("over");
    this.board.ended?.();
    this.result.show(say(left ? "partner_stopped" : "game_over"), score, () => this.shell.next());
  }

  private elsewhere(): void {
    const back = h("button", { type: "button", class: "primary" }, say("play_here"));
    back.addEventListener("click", () => location.reload());
    this.stop(null);
    this.result.say(say("elsewhere"), back);
  }

  private stop(why: string | null): void {
    clearInterval(this.grace);
    clearTimeout(this.silence);
    this.countdown.hide();
    this.tell(why, true);
    this.board.hold(true);
    for (const flag of this.flags) flag.disabled = true;
  }

  private tell(text: string | null, strong: boolean): void {
    this.banner.hidden = text === null;
    this.banner.classList.toggle("strong", strong);
    if (this.banner.textContent !== text) this.banner.textContent = text ?? "";
  }
}

export function game(page: GamePage, shell: Shell): Shown {
  const round = new Round(page, shell);
  const info = h("div", { class: "game-info" },
    h("span", { class: "pair" }, h("span", { class: "quiet" }, say("partner")), badge(page.alias)),
    page.real_time && badge({ label: say("you"), colour: "#ffffff", shape: "circle" }),
    h("span", { class: "pair" }, h("span", { class: "quiet" }, say("score")), round.score),
    round.clock,
    page.practice && h("span", { class: "practice" }, say("practice")));
  const flags = h("div", { class: "flags" }, ...round.flags, round.noted);
  const elements = [info, round.banner, round.result.element, round.countdown.element, round.board.element];
  // By turns there is time to look for it, and much below the hands: it stands before them. Else the game comes first.
  if (page.flags.length > 0) elements.splice(page.real_time ? 5 : 4, 0, flags);
  if (page.text) elements.push(html(page.text));
  return { elements, opened: () => round.board.focus(), close: () => round.close() };
}
