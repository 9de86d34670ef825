/** Simple figures on a canvas whose unit is one cell. */

import { corners, paint } from "../shapes";
import type { Actor } from "../types";
import type { Look } from "./grid";

export type Ink = CanvasRenderingContext2D;
export const OUTLINE = "#2b2f36";

export function box(ink: Ink, x: number, y: number, w: number, h: number, fill: string, round = 0): void {
  ink.fillStyle = fill;
  ink.beginPath();
  ink.roundRect(x, y, w, h, round);
  ink.fill();
}

export function disc(ink: Ink, x: number, y: number, r: number, fill: string, line?: string): void {
  ink.beginPath();
  ink.arc(x, y, r, 0, 2 * Math.PI);
  ink.fillStyle = fill;
  ink.fill();
  if (line) stroke(ink, line);
}

export function stroke(ink: Ink, colour: string, width = 0.035): void {
  ink.strokeStyle = colour;
  ink.lineWidth = width;
  ink.lineJoin = "round";
  ink.stroke();
}

export function path(ink: Ink, points: [number, number][], fill: string, line?: string): void {
  ink.beginPath();
  points.forEach(([x, y], i) => (i === 0 ? ink.moveTo(x, y) : ink.lineTo(x, y)));
  ink.closePath();
  ink.fillStyle = fill;
  ink.fill();
  if (line) stroke(ink, line);
}

/** Text in units of a cell. Fonts below a pixel are not drawn well, so it is scaled down from a large one. */
export function label(ink: Ink, text: string, x: number, y: number, size: number, fill: string): void {
  ink.save();
  ink.translate(x, y);
  ink.scale(size / 20, size / 20);
  ink.font = "700 20px system-ui, sans-serif";
  ink.textAlign = "center";
  ink.textBaseline = "middle";
  ink.fillStyle = fill;
  ink.fillText(text, 0, 0);
  ink.restore();
}

const WAYS: Record<string, [number, number]> = {
  north: [0, -1], up: [0, -1], south: [0, 1], down: [0, 1], east: [1, 0], right: [1, 0], west: [-1, 0], left: [-1, 0],
};

export function way(facing: string): [number, number] {
  return WAYS[facing.toLowerCase()] ?? [0, 1];
}

const YOURS = "#ffffff"; // no partner is white

/** A round figure from above that looks where it faces. The partner wears its colour and shape; you are white, in a ring. */
export function person(ink: Ink, actor: Actor, look: Look, shapeAt: number, head: (ink: Ink) => void): void {
  const yours = actor.seat === look.you;
  const [dx, dy] = way(actor.facing);
  const coat = yours ? YOURS : paint(look.alias.colour);
  ink.save();
  ink.translate(actor.x + 0.5, actor.y + 0.5);
  ink.beginPath();
  ink.ellipse(0, 0.32, 0.32, 0.12, 0, 0, 2 * Math.PI);
  ink.fillStyle = "rgb(0 0 0 / 18%)";
  ink.fill();
  // A nose says where one looks even when the face is hidden.
  path(ink, [[dx * 0.46, dy * 0.46], [dx * 0.22 - dy * 0.18, dy * 0.22 + dx * 0.18], [dx * 0.22 + dy * 0.18, dy * 0.22 - dx * 0.18]], coat, OUTLINE);
  disc(ink, 0, 0.02, 0.34, coat, OUTLINE);
  disc(ink, dx * 0.06, dy * 0.06, 0.24, "#f2cfa8", OUTLINE);
  if (dy >= 0) {
    for (const side of [-1, 1]) disc(ink, dx * 0.15 + side * (dx === 0 ? 0.08 : 0.03), 0.05 + dy * 0.06, 0.03, OUTLINE);
  }
  ink.save();
  head(ink);
  ink.restore();
  if (yours) {
    ink.beginPath();
    ink.arc(0, 0.02, 0.4, 0, 2 * Math.PI);
    stroke(ink, OUTLINE, 0.05);
  } else sticker(ink, look.alias.shape, paint(look.alias.colour), shapeAt);
  ink.restore();
}

/** The partner's shape, as in its sign: on the hat, or on the chest of those whose hat says what they do. */
function sticker(ink: Ink, shape: string, colour: string, y: number): void {
  ink.save();
  ink.translate(0, y);
  const points = corners(shape)?.map(([x, y]): [number, number] => [(x - 12) * 0.014, (y - 12) * 0.014]);
  if (points) path(ink, points, colour, "#ffffff");
  else disc(ink, 0, 0, 0.14, colour, "#ffffff");
  ink.restore();
}
