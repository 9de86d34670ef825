/** What every game in the browser offers to the page around it. */

import type { Alias, Start, Tick } from "../types";

export interface Controls {
  /** Real time: this and no other action, now. */
  act(action: string): void;
  /** By turns: a move that must arrive. */
  move(action: string): void;
  chat(text: string): void;
  alias: Omit<Alias, "id">;
  key: string;
}

export interface Board {
  element: HTMLElement;
  start(start: Start): void;
  tick(tick: Tick): void;
  /** The server has turned the last move down. */
  refused?(): void;
  /** The game is over. */
  ended?(): void;
  /** No more input: paused, lost or over. */
  hold(held: boolean): void;
  /** Where the keyboard should be. */
  focus(): void;
  close(): void;
}
