/** What a page gets from the shell, and gives to it. */

import type { Answers, ItemTimes } from "../types";

export interface Shell {
  readonly study: string;
  /** Send the answers and go on; gives the server's complaints, by question, when there are any. */
  answer(answers: Answers, timedOut?: boolean, items?: Record<string, ItemTimes>): Promise<Record<string, string> | null>;
  /** Ask the server again which page comes now. */
  next(): Promise<void>;
  /** The same, but what is shown stays when the server says nothing new. */
  refresh(): Promise<void>;
  /** Stop taking part, after being asked once. */
  stop(): Promise<void>;
  /** Have everything erased, after being asked once. `owed`: a payment that would be lost by it. */
  erase(owed: string | null): Promise<void>;
  /** What was filled in before a reload. */
  draft(): Answers;
  keep(answers: Answers): void;
  /** A name for things to remember that belong to this page. */
  key(): string;
}

export interface Shown {
  elements: HTMLElement[];
  /** Called once the elements are in the document. */
  opened?(): void;
  /** Called when the page goes away. */
  close?(): void;
}
