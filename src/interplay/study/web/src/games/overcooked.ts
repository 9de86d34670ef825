/** A kitchen from above. */

import type { Actor, Item, Pot } from "../types";
import type { Draw } from "./grid";
import { box, disc, type Ink, label, OUTLINE, path, person, stroke, way } from "./pencil";

const FLOOR = ["#efe6d6", "#e8ddca"];
const COUNTER = "#b98a5e";
const COUNTER_TOP = "#cfa377";
const ONION = "#e8c65a";
const TOMATO = "#d8432f";
const STEEL = "#5d646e";

export const drawOvercooked: Draw = (ink, view, actors, look) => {
  view.terrain.forEach((row, y) => {
    for (let x = 0; x < view.width; x++) tile(ink, row[x] ?? " ", x, y);
  });
  for (const pot of view.pots) contents(ink, pot);
  for (const item of view.items) at(ink, item.x + 0.5, item.y + 0.46, 1, () => thing(ink, item.kind, item.detail));
  for (const actor of actors) chef(ink, actor, look);
};

function at(ink: Ink, x: number, y: number, scale: number, draw: () => void): void {
  ink.save();
  ink.translate(x, y);
  ink.scale(scale, scale);
  draw();
  ink.restore();
}

function tile(ink: Ink, kind: string, x: number, y: number): void {
  if (kind === " " || kind === ".") {
    box(ink, x, y, 1.01, 1.01, FLOOR[(x + y) % 2] ?? "");
    return;
  }
  box(ink, x, y, 1.01, 1.01, COUNTER);
  box(ink, x + 0.02, y + 0.02, 0.96, 0.86, COUNTER_TOP, 0.06);
  at(ink, x + 0.5, y + 0.46, 1, () => furniture(ink, kind));
}

function furniture(ink: Ink, kind: string): void {
  if (kind === "P") {
    box(ink, -0.42, -0.38, 0.84, 0.76, "#7c838d", 0.08);
    disc(ink, 0, 0, 0.34, STEEL, OUTLINE);
    disc(ink, 0, 0, 0.27, "#31353c");
  } else if (kind === "O" || kind === "T") {
    box(ink, -0.4, -0.34, 0.8, 0.68, "#8a6238", 0.06);
    for (const [x, y] of [[-0.18, -0.12], [0.18, -0.12], [0, 0.14]] as const) {
      at(ink, x, y, 0.75, () => thing(ink, kind === "O" ? "onion" : "tomato"));
    }
  } else if (kind === "D") {
    for (const y of [0.08, 0, -0.08]) disc(ink, 0, y, 0.29, "#f6f6f3", "#9aa0a8");
    disc(ink, 0, -0.08, 0.18, "#e4e5e3");
  } else if (kind === "S") {
    box(ink, -0.44, -0.38, 0.88, 0.76, "#4f7f5f", 0.08);
    path(ink, [[0, -0.26], [0.24, 0.02], [0.09, 0.02], [0.09, 0.26], [-0.09, 0.26], [-0.09, 0.02], [-0.24, 0.02]], "#ffffff");
  }
}

/** Onions and tomatoes differ in form as well as in colour. */
function thing(ink: Ink, kind: string, detail?: Item["detail"]): void {
  if (kind === "onion") {
    path(ink, [[0, -0.26], [0.05, -0.12], [-0.05, -0.12]], "#6f8f3a", OUTLINE);
    disc(ink, 0, 0.02, 0.17, ONION, OUTLINE);
    ink.beginPath();
    ink.ellipse(0, 0.02, 0.07, 0.17, 0, 0, 2 * Math.PI);
    stroke(ink, "#a5842a", 0.02);
  } else if (kind === "tomato") {
    disc(ink, 0, 0.03, 0.17, TOMATO, OUTLINE);
    path(ink, [[0, -0.2], [0.04, -0.1], [0.13, -0.12], [0, -0.02], [-0.13, -0.12], [-0.04, -0.1]], "#3f7f3a");
  } else if (kind === "dish") {
    disc(ink, 0, 0, 0.24, "#fbfbf9", "#8b929b");
    disc(ink, 0, 0, 0.14, "#e9eae8");
  } else if (kind.startsWith("soup")) {
    disc(ink, 0, 0, 0.26, "#fbfbf9", "#8b929b");
    disc(ink, 0, 0, 0.18, soupColour(detail ?? "1,0"), "#8d6420");
  }
}

/** By what is in it, "onions,tomatoes". */
function soupColour(detail: string): string {
  const [onions = 0, tomatoes = 0] = detail.split(",").map(Number);
  return tomatoes > 0 ? (onions > 0 ? "#df8636" : TOMATO) : "#e0b23c";
}

function contents(ink: Ink, pot: Pot): void {
  const count = pot.onions + pot.tomatoes;
  const [x, y] = [pot.x + 0.5, pot.y + 0.46];
  if (count === 0) return;
  if (pot.timer === 0) {
    disc(ink, x, y, 0.27, soupColour(`${pot.onions},${pot.tomatoes}`), OUTLINE);
    path(ink, [[x - 0.14, y], [x - 0.04, y + 0.11], [x + 0.15, y - 0.12], [x + 0.15, y - 0.04], [x - 0.04, y + 0.18], [x - 0.17, y + 0.06]], "#ffffff", "#2f6b3d");
    return;
  }
  const kinds = [...Array<string>(pot.onions).fill("onion"), ...Array<string>(pot.tomatoes).fill("tomato")];
  const places = [[-0.1, -0.08], [0.1, -0.08], [0, 0.1]] as const;
  kinds.forEach((kind, i) => {
    const [dx, dy] = places[i % 3] ?? [0, 0];
    at(ink, x + dx, y + dy, 0.62, () => thing(ink, kind));
  });
  if (pot.timer > 0) {
    disc(ink, x + 0.3, y - 0.28, 0.19, "#ffffff", OUTLINE);
    label(ink, String(pot.timer), x + 0.3, y - 0.27, 0.22, OUTLINE);
  }
}

function chef(ink: Ink, actor: Actor, look: Parameters<Draw>[3]): void {
  person(ink, actor, look, -0.3, (pen) => {
    // A chef's hat: a puff on a band.
    box(pen, -0.15, -0.24, 0.3, 0.12, "#ffffff", 0.02);
    for (const x of [-0.12, 0, 0.12]) disc(pen, x, -0.3, 0.11, "#ffffff");
  });
  if (!actor.held) return;
  const [dx, dy] = way(actor.facing);
  at(ink, actor.x + 0.5 + dx * 0.3, actor.y + 0.56 + dy * 0.22, 0.85, () => thing(ink, actor.held ?? "", actor.detail));
}
