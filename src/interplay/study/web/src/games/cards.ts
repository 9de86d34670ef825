/** Cards in words and colours. */

import type { Card, Done, Move } from "../types";
import { say, thing } from "../words";

const SUITS: Record<string, { name: string; paint: string }> = {
  R: { name: "red", paint: "#c8372d" },
  Y: { name: "yellow", paint: "#e3b505" },
  G: { name: "green", paint: "#2f8f4e" },
  W: { name: "white", paint: "#f4f2ec" },
  B: { name: "blue", paint: "#2563c9" },
  M: { name: "multi", paint: "#9a57b8" },
};

function suit(colour: string | null): { name: string; paint: string } | undefined {
  return colour === null ? undefined : SUITS[colour.slice(0, 1).toUpperCase()];
}

export function colourOf(colour: string | null): string {
  return suit(colour)?.paint ?? "#9aa3af";
}

export function faceOf(card: Pick<Card, "colour" | "rank">): string {
  const words = [thing(suit(card.colour)?.name ?? card.colour ?? ""), card.rank].filter((word) => word !== null && word !== "");
  return words.join(" ") || say("unknown");
}

/** What hints leave possible: `R 1`, `RY 123`, `?` when nothing is excluded that a short line can say. */
export function knowledge(card: Card): string {
  const colours = typeof card.colours === "string" ? card.colours : (card.colours ?? []).map((c) => c.slice(0, 1)).join("");
  const ranks = (card.ranks ?? []).join("");
  const parts = [colours.length > 0 && colours.length < 5 ? colours : "", ranks.length > 0 && ranks.length < 5 ? ranks : ""];
  return parts.filter(Boolean).join(" ") || "?";
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
  if (entry.kind?.startsWith("hint")) return say("hinted", hinted(entry.value), (entry.cards ?? []).join(", "));
  return entry.text;
}
