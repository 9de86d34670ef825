/** Games on a grid in real time: keys and touch buttons in, a canvas out. The server moves; we only glide between. */

import { h } from "../dom";
import type { Actor, GridView, Start, Tick } from "../types";
import { say, thing, type Word } from "../words";
import type { Board, Controls } from "./board";

type Way = "up" | "down" | "left" | "right";

export interface Look {
  you: number;
  alias: Controls["alias"];
}
/** Draws a view with cells of one unit; actors stand where they are on their way to. */
export type Draw = (ink: CanvasRenderingContext2D, view: GridView, actors: Actor[], look: Look) => void;

const KEYS: Record<string, Way | "interact"> = {
  ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right",
  KeyW: "up", KeyS: "down", KeyA: "left", KeyD: "right", Space: "interact", Enter: "interact",
};
const PAD: [Way | "interact", string][] = [["up", "▲"], ["left", "◀"], ["right", "▶"], ["down", "▼"], ["interact", ""]];
const LARGEST_CELL = 112;

export class GridBoard implements Board {
  readonly element = h("div", { class: "grid-board" });
  private readonly canvas = h("canvas", { tabindex: 0, role: "application" });
  private readonly holding = h("p", { class: "holding", role: "status" });
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)");
  private look: Look;
  private tickMs = 1000 / 6;
  private view: GridView | null = null;
  private before: Actor[] = [];
  private since = 0;
  private frame = 0;
  private held = true;
  private readonly resized = new ResizeObserver(() => this.paint());

  constructor(
    private readonly controls: Controls,
    private readonly draw: Draw,
    private readonly ways: Record<Way, string>,
  ) {
    this.look = { you: 0, alias: controls.alias };
    this.canvas.setAttribute("aria-label", say("game_view", say("grid_help")));
    addEventListener("keydown", this.key);
    const pad = h("div", { class: "pad", role: "group", "aria-label": say("actions") });
    for (const [what, mark] of PAD) pad.append(this.button(what, mark));
    this.element.append(
      h("div", { class: "stage" }, this.canvas),
      h("div", { class: "below" }, this.holding, h("p", { class: "quiet keys-help" }, say("grid_help"))), pad);
    this.resized.observe(this.element);
  }

  start(start: Start): void {
    this.look = { ...this.look, you: start.you };
    this.tickMs = 1000 / start.tick_hz;
  }

  tick(tick: Tick): void {
    const view = tick.view as GridView;
    this.before = this.view === null ? view.chefs : this.positions(performance.now());
    this.view = view;
    this.since = performance.now();
    const mine = view.chefs.find((chef) => chef.seat === this.look.you);
    const words = say("hold", mine?.held ? thing(mine.held) : say("nothing"));
    if (this.holding.textContent !== words) this.holding.textContent = words;
    if (this.frame === 0) this.frame = requestAnimationFrame(this.animate);
  }

  hold(held: boolean): void {
    this.held = held;
    this.element.classList.toggle("held", held);
  }

  focus(): void {
    this.canvas.focus({ preventScroll: true });
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    removeEventListener("keydown", this.key);
    this.resized.disconnect();
  }

  /** Wherever the focus went by a stray click; but buttons and fields keep their own keys. */
  private readonly key = (event: KeyboardEvent): void => {
    const what = KEYS[event.code];
    const elsewhere = event.target instanceof Element && event.target.closest("button, select, input, textarea, a, summary, dialog");
    if (what === undefined || elsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (!event.repeat) this.act(what);
  };

  private act(what: Way | "interact"): void {
    if (!this.held) this.controls.act(what === "interact" ? "interact" : this.ways[what]);
  }

  private button(what: Way | "interact", mark: string): HTMLElement {
    const button = h("button", { type: "button", class: what, "aria-label": say(what as Word) }, mark || say(what as Word));
    // At touch-down, not at release: a game in real time cannot wait for the finger to leave.
    button.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.act(what);
    });
    // A click without a pointer comes from a keyboard or a screen reader.
    button.addEventListener("click", (event) => event.detail === 0 && this.act(what));
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    return button;
  }

  private readonly animate = (now: number): void => {
    this.paint(now);
    this.frame = now - this.since < this.tickMs ? requestAnimationFrame(this.animate) : 0;
  };

  /** Where everybody is between the last two ticks. Jumps of more than a cell (a new game) are not glided. */
  private positions(now: number): Actor[] {
    const view = this.view;
    if (view === null) return [];
    const share = this.still.matches ? 1 : Math.min(1, (now - this.since) / this.tickMs);
    return view.chefs.map((to) => {
      const from = this.before.find((a) => a.seat === to.seat) ?? to;
      if (Math.abs(from.x - to.x) + Math.abs(from.y - to.y) > 1.5) return to;
      return { ...to, x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y) };
    });
  }

  private paint(now = performance.now()): void {
    const view = this.view;
    const ink = this.canvas.getContext("2d");
    if (view === null || ink === null) return;
    const cell = this.cell(view);
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(cell * view.width * ratio), Math.round(cell * view.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      [this.canvas.width, this.canvas.height] = [width, height];
      this.canvas.style.width = `${width / ratio}px`;
    }
    ink.setTransform(width / view.width, 0, 0, height / view.height, 0, 0);
    // Those further down stand in front.
    const actors = this.positions(now).sort((a, b) => a.y - b.y);
    this.draw(ink, view, actors, this.look);
  }

  private cell(view: GridView): number {
    const wide = this.element.clientWidth / view.width;
    const high = (innerHeight * 0.6) / view.height;
    return Math.max(12, Math.min(wide, high, LARGEST_CELL));
  }
}
