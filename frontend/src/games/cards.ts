/** Cards in words and colours. */

import { h } from "../dom";
import type { Card, Done, Move } from "../types";
import { say, thing } from "../words";

interface Suit {
  name: string;
  paint: string;
  edge: string;
  tint: string; // of the card's ground
  on: string; // of letters on the paint
}

const SUITS: Record<string, Suit> = {
  R: { name: "red", paint: "#c0342a", edge: "#c0342a", tint: "#fbe9e7", on: "#ffffff" },
  Y: { name: "yellow", paint: "#e3b505", edge: "#c79d00", tint: "#fdf6dc", on: "#1f2328" },
  G: { name: "green", paint: "#22783d", edge: "#22783d", tint: "#e6f4ea", on: "#ffffff" },
  W: { name: "white", paint: "#e9e6dc", edge: "#aca692", tint: "#fdfcf8", on: "#1f2328" },
  B: { name: "blue", paint: "#2563c9", edge: "#2563c9", tint: "#e7effc", on: "#ffffff" },
  M: { name: "multi", paint: "#8347a3", edge: "#8347a3", tint: "#f4eaf8", on: "#ffffff" },
};
const HIDDEN: Suit = { name: "", paint: "#6b7280", edge: "#6b7280", tint: "#eef0f3", on: "#ffffff" };

function suit(colour: string | null): Suit | undefined {
  return colour === null ? undefined : SUITS[colour.slice(0, 1).toUpperCase()];
}

/** Give an element the colours of a suit, or of a card's back. */
export function dress<E extends HTMLElement>(element: E, colour: string | null): E {
  const { paint, edge, tint, on } = suit(colour) ?? HIDDEN;
  element.style.setProperty("--edge", edge);
  element.style.setProperty("--suit", paint);
  element.style.setProperty("--face", tint);
  element.style.setProperty("--on", on);
  return element;
}

export function faceOf(card: Pick<Card, "colour" | "rank">): string {
  const words = [thing(suit(card.colour)?.name ?? card.colour ?? ""), card.rank].filter((word) => word !== null && word !== "");
  return words.join(" ") || say("unknown");
}

/** What hints leave possible, where they exclude anything: colours as letters, and ranks. */
export function possible(card: Card): { colours: string[]; ranks: number[] } {
  const colours = [...(card.colours ?? [])].map((c) => c.slice(0, 1));
  const ranks = card.ranks ?? [];
  return { colours: colours.length < 5 ? colours : [], ranks: ranks.length < 5 ? ranks : [] };
}

/** The same in a word: `R 1`, `RY 123`, `?` when nothing is excluded. */
export function knowledge(card: Card): string {
  const { colours, ranks } = possible(card);
  return [colours.join(""), ranks.join("")].filter(Boolean).join(" ") || "?";
}

/** The same as marks on the card: a letter in its colour for each colour, and the ranks. */
export function marks(card: Card): HTMLElement {
  const { colours, ranks } = possible(card);
  const dots = colours.map((colour) => dress(h("span", { class: "dot" }, colour), colour));
  return h("span", { class: "known" }, h("span", { class: "dots" }, ...dots), h("span", {}, ranks.join(" ")));
}

function hinted(value: string | number | null | undefined): string {
  return typeof value === "string" ? thing(suit(value)?.name ?? value) : String(value ?? "");
}

/** What a button for a move says. */
export function labelOf(move: Move): string {
  if (move.kind === "play") return say("play_card", Number(move.value) + 1);
  if (move.kind === "discard") return say("discard_card", Number(move.value) + 1);
  return move.kind?.startsWith("hint") ? say("hint_value", hinted(move.value)) : move.label;
}

/** What was done, after who did it. */
export function sentence(entry: Done): string {
  const card = entry.card ? faceOf(entry.card) : "";
  if (entry.kind === "play") return say(entry.fits ? "played" : "misplayed", card);
  if (entry.kind === "discard") return say("discarded", card);
  if (entry.kind?.startsWith("hint")) {
    const cards = entry.cards ?? [];
    return say(cards.length === 1 ? "hinted_one" : "hinted", hinted(entry.value), cards.join(", "));
  }
  return entry.text;
}
