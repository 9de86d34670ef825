/** What travels between the browser and the server, as JSON. */

export interface State {
  csrf: string;
  language: string;
  languages: string[];
  progress: { done: number; of: number };
  page: Page;
}

interface Common {
  id: string;
  title: string;
  text: string; // safe HTML, made by the server
  media?: Media[];
}

/** What a page or question shows beside its text. */
export type Media =
  | { kind: "image"; src: string; alt: string }
  | { kind: "video"; src: string; captions: string | null; alt: string }
  | { kind: "drawing"; svg: string; alt: string }
  | { kind: "board"; start: Start; view: unknown; alt: string };

/** ["and" | "or", ...], ["not", x], [comparison, x, y], ["name", question] or ["value", constant]. */
export type Condition = [string, ...unknown[]];

export interface ItemTimes {
  first_s: number | null;
  last_s: number | null;
  changes: number;
}

export interface ConsentPage extends Common {
  kind: "consent";
  version: string;
  checkboxes: { id: string; label: string }[];
}
export interface FormPage extends Common {
  kind: "form";
  questions: Question[];
}
export interface InstructionsPage extends Common {
  kind: "instructions";
  figures: string[];
}
export interface QuizPage extends Common {
  kind: "quiz";
  questions: Question[];
  feedback: Record<string, string> | null;
  tries_left: number;
}
export interface RankingPage extends Common {
  kind: "ranking";
  items: Alias[];
  fixed: string[]; // ids that are already in order, best first
}
export interface GamePage extends Common {
  kind: "game";
  game: GameName;
  socket: string;
  alias: Omit<Alias, "id">;
  flags: { id: string; label: string }[];
  practice: boolean;
}
export interface WaitPage extends Common {
  kind: "wait";
  until_s: number; // seconds from now until the wait is over, at the latest
  message: string;
}
export interface DonePage extends Common {
  kind: "done";
  code: string | null;
  url: string | null;
  payment: string | null;
  erasable?: boolean; // whether one may have everything erased
}
export type Page =
  | ConsentPage | FormPage | InstructionsPage | QuizPage | RankingPage | GamePage | WaitPage | DonePage;

/** How a partner is shown: never by an agent's name. */
export interface Alias {
  id: string;
  label: string;
  colour: string;
  shape: string;
}

export interface Question {
  id: string;
  type: "likert" | "two_sided" | "choice" | "multi" | "number" | "text" | "slider";
  label: string;
  required?: boolean;
  points?: number | null;
  left?: string | null;
  right?: string | null;
  labels?: string[] | null;
  options?: { value: string | number; label: string }[] | null;
  min?: number | null;
  max?: number | null;
  step?: number | null;
  media?: Media | null;
  when?: Condition | null; // asked only while this holds
}

/** Scales answer 1 to `points`; nothing chosen is null. */
export type Answer = string | number | boolean | (string | number)[] | null;
export type Answers = Record<string, Answer>;

export type GameName = "overcooked" | "hanabi" | "rescue" | "kitchen" | "scene";

export interface Start {
  type: "start";
  game: GameName;
  tick_hz: number;
  ticks: number;
  you: number;
  layout: unknown;
  seq?: number; // the last sequence number that the server has taken, when it tells
}
export interface Tick {
  type: "tick";
  t: number;
  score: number;
  left_s: number | null;
  view: unknown; // as the game says: GridView, HanabiView or SceneView
}
export type FromServer =
  | Start
  | Tick
  | { type: "ack"; seq: number; t: number }
  | { type: "pause"; reason: string; grace_s: number }
  | { type: "end"; score: number; next: boolean; reason?: string } // reason "stopped": the partner takes part no more
  | { type: "pong"; at: number }
  | { type: "elsewhere" } // the game was opened in another window, which plays on
  | { type: "error"; message: string };

export type ToServer =
  | { type: "hello"; seen: number; page: string }
  | { type: "act"; seq: number; action: string; t?: number } // t: the tick that a move answers
  | { type: "flag"; seq: number; id: string; t: number }
  | { type: "chat"; seq: number; text: string }
  | { type: "visibility"; hidden: boolean }
  | { type: "ping"; at: number; rtt_ms: number | null };

export interface Actor {
  x: number;
  y: number;
  facing: string; // north, south, east, west; or up, down, right, left
  held: string | null;
  detail?: string | null; // of what is held
  seat: number;
  role?: string;
  guarded?: boolean; // may work in danger zones
}
export interface Item {
  x: number;
  y: number;
  kind: string;
  detail?: string | null; // a soup: "onions,tomatoes"; a victim: "treated", "seen" (not reported) or "40 %"
}
export interface Pot {
  x: number;
  y: number;
  onions: number;
  tomatoes: number;
  timer: number; // below 0: not cooking, 0: ready
}
/** Overcooked and rescue. */
export interface GridView {
  width: number;
  height: number;
  terrain: string[];
  chefs: Actor[];
  items: Item[];
  pots: Pot[];
  unseen?: [number, number][]; // cells that this seat does not see
}

export interface Card {
  id?: number; // the place in the deal, so that notes stay with their card
  colour: string | null; // null: this seat does not see it
  rank: number | null;
  colours?: string[] | string | null; // what hints leave possible
  ranks?: number[] | null;
}
export interface Move {
  action: string;
  label: string;
  kind?: string;
  target?: number | null;
  value?: number | string | null;
  group?: string; // what many of this kind are together
}
/** A move that was made, told in the reader's language by its parts; `text` where there are none. */
export interface Done {
  t?: number;
  seat?: number;
  kind?: string;
  card?: { colour: string; rank: number } | null; // played or discarded
  fits?: boolean; // whether a played card did
  value?: string | number | null; // of a hint
  target?: number | null;
  cards?: number[]; // that a hint points at, from 1
  text: string;
}
export interface HanabiView {
  hands: Card[][]; // by seat
  fireworks: Record<string, number>;
  tokens: number;
  lives: number;
  deck: number;
  discards: Card[];
  legal: Move[];
  history: Done[];
  your_turn: boolean;
}
export interface Message {
  seat: number;
  text: string;
}
/** The kitchen, and any game that is shown by its scene. */
export interface SceneView {
  text: string;
  svg: string | null;
  messages?: Message[];
  legal: Move[];
  your_turn?: boolean; // false while an act is under way
  doing?: string | null; // that act, in words
  role?: string;
  order?: string[]; // the dish and how it is made; empty for those who do not know; none in other games
  requests?: Move[]; // what the partner could be asked to do; said as their `action`
  steps_left?: number;
}
