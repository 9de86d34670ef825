/** What travels between the browser and the server, as JSON.
 *
 * Written by tools/typescript_types.py from study/http/messages.py: change that file and run `make front`.
 */

/** Nothing chosen is null. */
export type Answer = string | number | boolean | (string | number)[] | null;
export type Answers = Record<string, Answer>;

/** How many pages are behind a participant. */
export interface Progress {
  done: number;
  of: number;
}

/** A picture, a video, a drawing or a board that stands still. */
export interface MediaView {
  kind: "image" | "video" | "drawing" | "board";
  alt: string;
  src?: string;
  captions?: string | null;
  svg?: string;
  start?: unknown; // of a board: as a game's `Start`
  view?: unknown;
}

/** When a question was answered, in seconds since its page was opened, and how often that was changed. */
export interface ItemTimes {
  first_s: number | null;
  last_s: number | null;
  changes: number;
}

/** What every page has; those of other packages have more. */
export interface PageView {
  id: string;
  kind: string;
  title: string;
  text: string; // safe HTML, made by the server
  media?: MediaView[]; // shown below the text
  scripts?: string[]; // modules that must be loaded first
  left_s?: number | null; // seconds left for this page, where it has a limit
}

/** What a participant's device must have. */
export interface Device {
  min_width: number;
  min_height: number;
  keyboard: boolean;
}

/** The answer to every request: which page is open, in which language. */
export interface State {
  csrf: string;
  language: string;
  languages: string[];
  title?: string;
  progress: Progress;
  words?: Record<string, string>; // of the frame, as the study says them
  page: PageView;
  test?: boolean; // the study is only tried out
  device?: Device; // what the device must have
}

/** A box to tick, or a button to flag something. */
export interface Labelled {
  id: string;
  label: string;
}

/** The statement and the boxes to tick. */
export interface ConsentPage extends PageView {
  kind: "consent";
  version: string;
  checkboxes: Labelled[];
}

/** An option of a question. */
export interface OptionView {
  value: string;
  label: string;
}

/** A question; scales answer 1 to `points`. */
export interface Question {
  id: string;
  type: "likert" | "two_sided" | "choice" | "multi" | "number" | "text" | "slider";
  label: string;
  required?: boolean;
  points?: number | null;
  left?: string | null;
  right?: string | null;
  labels?: string[] | null;
  options?: OptionView[] | null;
  min?: number | null;
  max?: number | null;
  step?: number | null;
  media?: MediaView | null;
  when?: unknown[] | null; // asked only while this condition holds
}

/** Questions. */
export interface FormPage extends PageView {
  kind: "form";
  questions: Question[];
}

/** Questions with right answers, which stay on the server. */
export interface QuizPage extends PageView {
  kind: "quiz";
  questions: Question[];
  feedback: Record<string, string> | null; // what was wrong in the last try, with explanations
  tries_left: number;
}

/** A text with pictures. */
export interface InstructionsPage extends PageView {
  kind: "instructions";
  figures: string[]; // SVG
}

/** How a partner is shown: never by an agent's name. */
export interface Alias {
  id: string;
  label: string;
  colour: string;
  shape: string;
}

/** An alias without its id. */
export interface PartnerSign {
  label: string;
  colour: string;
  shape: string;
}

/** Partners to put into an order. */
export interface RankingPage extends PageView {
  kind: "ranking";
  items: Alias[];
  fixed: string[]; // ids that are already in order, best first
}

/** A game, which is played over a socket. */
export interface GamePage extends PageView {
  kind: "game";
  game: string; // its board
  real_time: boolean;
  socket: string;
  alias: PartnerSign;
  flags: Labelled[];
  practice: boolean;
}

/** A waiting room. */
export interface WaitPage extends PageView {
  kind: "wait";
  until_s: number; // seconds from now until the wait is over, at the latest
  message: string;
}

/** The last page. */
export interface DonePage extends PageView {
  kind: "done";
  code: string | null;
  url: string | null;
  payment: string | null;
  erasable?: boolean; // whether one may have everything erased
}

/** The first message: which game, and what stays the same in it. */
export interface Start {
  type: "start";
  game: string;
  tick_hz: number;
  ticks: number;
  you: number;
  layout: unknown;
  seq?: number; // the last sequence number that the server has taken
}

/** What one seat sees after a step. */
export interface Tick {
  type: "tick";
  t: number;
  score: number;
  left_s: number | null;
  view: unknown; // as the game says: GridView, HanabiView or SceneView
}

/** A message was taken and stored. */
export interface Ack {
  type: "ack";
  seq: number;
  t: number;
}

/** The game waits. */
export interface Pause {
  type: "pause";
  reason: string;
  grace_s: number;
}

/** Then the game begins, or goes on. */
export interface Countdown {
  type: "countdown";
  seconds: number;
}

/** The game begins when everyone has pressed a key. */
export interface Ready {
  type: "ready";
  pressed: boolean;
}

/** Another process plays this game. */
export interface Moved {
  type: "moved";
  socket: string;
}

/** The game is over and stored. */
export interface End {
  type: "end";
  score: number;
  next: boolean;
  reason?: string; // "stopped": the partner takes part no more
}

/** The answer to a ping. */
export interface Pong {
  type: "pong";
  at: number;
}

/** The game was opened in another window, which plays on. */
export interface Elsewhere {
  type: "elsewhere";
}

/** A message was refused. */
export interface Error {
  type: "error";
  message: string;
}

/** The first message: the last tick that was seen, and the page that is shown. */
export interface Hello {
  type: "hello";
  seen: number;
  page: string;
  acknowledges: boolean; // whether ticks are answered with `seen`
}

/** This tick was drawn. */
export interface Seen {
  type: "seen";
  t: number;
}

/** The participant is ready to begin. */
export interface PressedReady {
  type: "ready";
}

/** An action. */
export interface Act {
  type: "act";
  seq: number;
  action: string;
  t?: number; // the tick that a move answers
}

/** A flag button was pressed. */
export interface FlagPress {
  type: "flag";
  seq: number;
  id: string;
  t: number;
}

/** A message to the partner. */
export interface Chat {
  type: "chat";
  seq: number;
  text: string;
}

/** The tab was hidden or shown. */
export interface Visibility {
  type: "visibility";
  hidden: boolean;
}

/** Measures the round trip. */
export interface Ping {
  type: "ping";
  at: number;
  rtt_ms: number | null;
}

/** Somebody on a grid. */
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

/** A thing on a grid. */
export interface Item {
  x: number;
  y: number;
  kind: string;
  detail?: string | null; // a soup: "onions,tomatoes"; a victim: "treated", "seen" (not reported) or "40 %"
}

/** A pot and what is in it. */
export interface Pot {
  x: number;
  y: number;
  onions: number;
  tomatoes: number;
  timer: number; // below 0: not cooking, 0: ready
}

/** Overcooked, and search and rescue. */
export interface GridView {
  width: number;
  height: number;
  terrain: string[];
  chefs: Actor[];
  items: Item[];
  pots: Pot[];
  unseen?: [number, number][]; // cells that this seat does not see
}

/** A card of Hanabi as one seat sees it. */
export interface Card {
  id?: number; // the place in the deal, so that notes stay with their card
  colour: string | null; // null: this seat does not see it
  rank: number | null;
  colours?: string[] | string | null; // what hints leave possible
  ranks?: number[] | null;
}

/** A card that all see. */
export interface CardFace {
  colour: string;
  rank: number;
}

/** Something that can be done now. */
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
  card?: CardFace | null; // played or discarded
  fits?: boolean; // whether a played card did
  value?: number | string | null; // of a hint
  target?: number | null;
  cards?: number[]; // that a hint points at, from 1
  text: string;
}

/** A game of Hanabi as one seat sees it. */
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

/** Something that was said. */
export interface Message {
  seat: number;
  text: string;
  asks?: string[]; // macro actions that it asks for
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

export type Page =
  | ConsentPage
  | FormPage
  | InstructionsPage
  | QuizPage
  | RankingPage
  | GamePage
  | WaitPage
  | DonePage;

export type FromServer =
  | Start
  | Tick
  | Ack
  | Pause
  | Countdown
  | Ready
  | Moved
  | End
  | Pong
  | Elsewhere
  | Error;

export type ToServer =
  | Hello
  | Seen
  | PressedReady
  | Act
  | FlagPress
  | Chat
  | Visibility
  | Ping;
