/** Cards in words and colours. */

import type { Card } from "../types";
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
