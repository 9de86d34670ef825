/** The pictures of a kitchen, from simple shapes in a cell of 48 by 48: the same as in replays and reports. */

import { corners, paint } from "../shapes";
import type { Ink } from "./pencil";

export type Shape =
  | ["rect", number, number, number, number, string, number] // x, y, width, height, fill, radius
  | ["ellipse", number, number, number, number, string] // x, y, radius across, radius down, fill
  | ["poly", readonly (readonly [number, number])[], string]
  | ["line", number, number, number, number, string, number]; // from, to, colour, width

const CELL = 48;
const FLOOR = ["#f6eee0", "#efe4d1"] as const;
const [WOOD, WOOD_TOP, WOOD_FRONT, WOOD_LINE] = ["#b98650", "#cf9f68", "#8f6337", "#c09059"];
const [ONION, ONION_DARK, ONION_TIP] = ["#f3cf73", "#c58f2c", "#7f9a3b"];
const [TOMATO, TOMATO_DARK, LEAF] = ["#d8412f", "#9f2a1f", "#3f7d3a"];
const [PLATE, PLATE_RIM, STEEL_DARK, GOOD] = ["#ffffff", "#b9c4cf", "#3b434b", "#1d7a5f"];
const [SKIN, HAIR, INK, SHADOW] = ["#f2c9a0", "#6b4a33", "#23262b", "#00000030"];
const COOKING = 20; // steps, as in the papers; a soup that takes longer starts with an empty ring

/** Draw shapes in the cell whose corner is (x, y), with a cell as the unit. */
export function stamp(ink: Ink, x: number, y: number, shapes: readonly Shape[]): void {
  ink.save();
  ink.translate(x, y);
  ink.scale(1 / CELL, 1 / CELL);
  for (const shape of shapes) draw(ink, shape);
  ink.restore();
}

function draw(ink: Ink, shape: Shape): void {
  ink.beginPath();
  if (shape[0] === "line") {
    const [, x1, y1, x2, y2, colour, width] = shape;
    ink.moveTo(x1, y1);
    ink.lineTo(x2, y2);
    ink.strokeStyle = colour;
    ink.lineWidth = width;
    ink.lineCap = "round";
    ink.stroke();
    return;
  }
  if (shape[0] === "rect") ink.roundRect(shape[1], shape[2], shape[3], shape[4], shape[6]);
  else if (shape[0] === "ellipse") ink.ellipse(shape[1], shape[2], shape[3], shape[4], 0, 0, 2 * Math.PI);
  else shape[1].forEach(([x, y], i) => (i === 0 ? ink.moveTo(x, y) : ink.lineTo(x, y)));
  ink.fillStyle = shape[0] === "rect" || shape[0] === "ellipse" ? shape[5] : shape[2];
  ink.fill();
}

const disc = (x: number, y: number, r: number, fill: string): Shape => ["ellipse", x, y, r, r, fill];

/** What a cell looks like when nothing lies on it; `front` when the floor begins below. */
export function tile(kind: string, odd: boolean, front: boolean): Shape[] {
  if (kind === " " || kind === ".") return [["rect", -0.5, -0.5, 49, 49, "#e6d8c1", 0], ["rect", 1, 1, 46, 46, FLOOR[odd ? 1 : 0], 3]];
  const top = front ? 40 : 48;
  return [
    ["rect", -0.5, -0.5, 49, 49, front ? WOOD_FRONT : WOOD, 0], ["rect", -0.5, -0.5, 49, top + 0.5, WOOD, 0],
    ["rect", 1, 1, 46, top - 2, WOOD_TOP, 4], ...(FURNITURE[kind] ?? grain)(),
  ];
}

const grain = (): Shape[] => [["line", 8, 13, 30, 13, WOOD_LINE, 1.5], ["line", 18, 24, 40, 24, WOOD_LINE, 1.5]];
const crate = (): Shape[] => [["rect", 5, 4, 38, 35, "#6f4a26", 5], ["rect", 8, 7, 32, 29, "#4f3318", 3]];

const FURNITURE: Record<string, () => Shape[]> = {
  O: () => [...crate(), ...onion(17, 17, 8), ...onion(31, 17, 8), ...onion(24, 27, 8.5)],
  T: () => [...crate(), ...tomato(17, 17, 8), ...tomato(31, 17, 8), ...tomato(24, 27, 8.5)],
  D: () => [["rect", 5, 4, 38, 35, "#7f8fa0", 5], ["rect", 7, 6, 34, 31, "#93a3b3", 4],
    ...dish(24, 25, 14), ...dish(24, 21, 14), ...dish(24, 17, 14)],
  P: () => [["rect", 3, 2, 42, 38, STEEL_DARK, 5], disc(24, 20, 17.5, "#20262b"), ["rect", 2, 17, 6, 6, "#171b1f", 3],
    ["rect", 40, 17, 6, 6, "#171b1f", 3], disc(24, 20, 16, "#6d7882"), disc(24, 20, 13.5, "#2b3238")],
  // A steel counter with a bell: soups leave the kitchen here.
  S: () => [["rect", 3, 3, 42, 37, STEEL_DARK, 5], ["rect", 5, 5, 38, 33, "#54606b", 4], ["ellipse", 24, 30, 14, 4, "#2f363d"],
    ["poly", dome(24, 28, 12, 1), "#f0c245"], ["poly", dome(24, 28, 12, 0.45), "#f8dc86"],
    ["rect", 11, 27, 26, 4, "#c99a1e", 2], disc(24, 14, 3, "#c99a1e")],
};

/** The upper half of a disc; the left `share` of it as a gleam. */
function dome(x: number, y: number, r: number, share: number): [number, number][] {
  const arc = Array.from({ length: 13 }, (_, i) => Math.PI * (1 - (i / 12) * share));
  return [...arc.map((a): [number, number] => [x + r * Math.cos(a), y - r * Math.sin(a)]), [x, y]];
}

function onion(x: number, y: number, r: number): Shape[] {
  return [
    ["poly", [[x - r * 0.35, y - r * 0.75], [x, y - r * 1.45], [x + r * 0.35, y - r * 0.75]], ONION_TIP],
    ["ellipse", x, y, r * 1.05, r, ONION_DARK], ["ellipse", x, y, r * 0.88, r * 0.83, ONION],
    ["ellipse", x, y, r * 0.42, r * 0.83, ONION_DARK], ["ellipse", x, y, r * 0.28, r * 0.83, ONION],
  ];
}

function tomato(x: number, y: number, r: number): Shape[] {
  const star = Array.from({ length: 10 }, (_, i): [number, number] => {
    const [angle, size] = [(Math.PI * i) / 5 - Math.PI / 2, i % 2 === 0 ? 0.75 : 0.28];
    return [x + r * size * Math.cos(angle), y - r * 0.62 + r * 0.7 * size * Math.sin(angle)];
  });
  return [disc(x, y, r, TOMATO_DARK), disc(x, y, r * 0.86, TOMATO),
    ["ellipse", x - r * 0.35, y - r * 0.05, r * 0.2, r * 0.3, "#ffffff70"], ["poly", star, LEAF]];
}

function dish(x: number, y: number, r: number): Shape[] {
  return [["ellipse", x, y + 1, r, r * 0.72, "#00000038"], ["ellipse", x, y, r, r * 0.7, PLATE_RIM],
    ["ellipse", x, y - 0.8, r * 0.92, r * 0.62, PLATE], ["ellipse", x, y - 0.3, r * 0.6, r * 0.38, "#e3e9ee"]];
}

/** A bowl of soup, with one pip for each ingredient: the recipe can be read without its colour. */
function plated(x: number, y: number, r: number, onions: number, tomatoes: number): Shape[] {
  return [["ellipse", x, y + 2, r, r * 0.78, "#00000038"], ["ellipse", x, y, r, r * 0.76, PLATE_RIM],
    ["ellipse", x, y - 0.5, r * 0.93, r * 0.68, PLATE], ["ellipse", x, y - 0.5, r * 0.76, r * 0.53, soupColour(onions, tomatoes)],
    ...pips(x, y - 0.5, r * 0.36, r * 0.2, onions, tomatoes)];
}

function pips(x: number, y: number, spread: number, r: number, onions: number, tomatoes: number): Shape[] {
  const count = onions + tomatoes;
  const three = [[-1, 0.35], [1, 0.35], [0, -0.75], [0, 1.4], [-1.4, -0.8], [1.4, -0.8]]; // and room for odd recipes
  const places = count === 1 ? [[0, 0]] : count === 2 ? [[-1, 0], [1, 0]] : three;
  return places.slice(0, count).flatMap(([dx = 0, dy = 0], i) => {
    const [edge, fill] = i < onions ? [ONION_DARK, ONION] : ["#7d1f16", TOMATO];
    const [cx, cy] = [x + dx * spread, y + dy * spread];
    return [disc(cx, cy, r, edge), disc(cx, cy, r * 0.72, fill)];
  });
}

function soupColour(onions: number, tomatoes: number): string {
  return tomatoes === 0 ? "#e3b04b" : onions === 0 ? "#d4492f" : "#e0803a";
}

/** Something that lies on a counter or is held, around a point. A soup's detail is "onions,tomatoes". */
export function item(kind: string, detail: string | null | undefined, x = 24, y = 22, r = 11): Shape[] {
  const shadow: Shape = ["ellipse", x, y + r * 0.8, r, r * 0.4, SHADOW];
  if (kind === "onion") return [shadow, ...onion(x, y, r)];
  if (kind === "tomato") return [shadow, ...tomato(x, y, r)];
  if (kind === "dish") return dish(x, y, r * 1.25);
  const [onions = 0, tomatoes = 0] = (detail ?? "1,0").split(",").map(Number);
  return plated(x, y, r * 1.25, onions, tomatoes);
}

/** What is in a pot: its ingredients, a bar that fills while they cook, then steam and a tick. */
export function contents(onions: number, tomatoes: number, timer: number): Shape[] {
  const inside = [disc(24, 20, 13.5, soupColour(onions, tomatoes)), ...pips(24, 19, 5.4, 3.7, onions, tomatoes)];
  if (timer < 0) return inside;
  if (timer === 0) {
    const steam = [[16, 6], [24, 2], [32, 6]].map(([x = 0, y = 0]): Shape => ["ellipse", x, y, 3, 4.5, "#ffffffb0"]);
    return [...inside, ...steam, disc(38, 33, 8.5, "#ffffff"), disc(38, 33, 7.2, GOOD),
      ["line", 34.5, 33.2, 37.2, 36, "#ffffff", 2.2], ["line", 37.2, 36, 41.6, 30.4, "#ffffff", 2.2]];
  }
  const done = Math.max(0.04, Math.min(1, 1 - timer / COOKING));
  return [...inside, ["rect", 5, 32, 38, 11, INK, 5], ["rect", 7, 34, 34 * done, 7, "#4cc38a", 3]];
}

const SIDES = ["north", "south", "east", "west"];
type Pair = readonly [number, number];
const REACH: readonly Pair[] = [[40, 10], [24, 37], [43, 25], [5, 25]]; // where hands hold something, by facing
const EYES: readonly (readonly Pair[])[] = [[], [[20, 22], [28, 22]], [[27, 21], [32, 21]], [[16, 21], [21, 21]]];
const APRON: readonly Pair[] = [[0, 0], [18, 12], [26, 8], [14, 8]];
const SHOULDERS = [[[14, 30], [34, 30]], [[14, 31], [34, 31]], [[28, 32], [30, 34]], [[20, 32], [18, 34]]] as const;
const RESTING = [[[14, 27], [34, 27]], [[14, 37], [34, 37]], [[33, 33], [36, 35]], [[15, 33], [12, 35]]] as const;
const STRETCHED = [[[14, 27], [38, 18]], [[16, 38], [32, 38]], [[36, 33], [39, 35]], [[12, 33], [9, 35]]] as const;

export interface Worn {
  colour: string;
  shape: string | null; // on the hat; your own has none
  mine: boolean;
}

/** A chef who looks where it faces, with what it holds held out in front. */
export function chef(facing: string, held: string | null, detail: string | null | undefined, worn: Worn): Shape[] {
  const side = Math.max(0, SIDES.indexOf(facing));
  const colour = paint(worn.colour);
  const [hx, hy] = REACH[side] ?? [24, 37];
  const [left, width] = APRON[side] ?? [0, 0];
  const ring: Shape[] = worn.mine ? [["ellipse", 24, 41, 21, 8, INK], ["ellipse", 24, 41, 19, 6.4, "#ffffff"]] : [];
  return [
    ...ring, ["ellipse", 24, 42, 14, 4.5, SHADOW], ["rect", 11, 25, 26, 18, INK, 9], ["rect", 12.5, 26, 23, 15.5, colour, 8],
    ...(width > 0 ? [["rect", left, 29, width, 12, worn.mine ? "#d9dde2" : "#ffffffd8", 3] satisfies Shape] : []),
    ...arms(side, held !== null, colour),
    disc(24, 19, 10.5, INK), disc(24, 19, 9.2, side === 0 ? HAIR : SKIN),
    ...(EYES[side] ?? []).map(([x, y]) => disc(x, y, 1.6, INK)),
    ...hat(worn), ...(held === null ? [] : item(held, detail, hx, hy, 8.5)),
  ];
}

/** Hands stretched out when they hold something, else at rest. */
function arms(side: number, reaching: boolean, colour: string): Shape[] {
  const hands = (reaching ? STRETCHED : RESTING)[side] ?? [];
  return hands.flatMap(([hx, hy], i): Shape[] => {
    const [sx, sy] = SHOULDERS[side]?.[i] ?? [hx, hy];
    return [["line", sx, sy, hx, hy, INK, 6], ["line", sx, sy, hx, hy, colour, 4], disc(hx, hy, 3, SKIN)];
  });
}

function hat(worn: Worn): Shape[] {
  const puffs = [[16.5, 6.5, 6], [31.5, 6.5, 6], [24, 4, 7]] as const;
  return [
    ...puffs.map(([x, y, r]) => disc(x, y, r + 1.2, INK)), ["rect", 14, 6, 20, 11, INK, 3],
    ...puffs.map(([x, y, r]) => disc(x, y, r, "#ffffff")), ["rect", 15.2, 6, 17.6, 9.8, "#ffffff", 2],
    ...(worn.shape === null ? [] : badge(worn.shape, paint(worn.colour))),
  ];
}

/** The partner's shape, as in its sign. */
function badge(shape: string, colour: string): Shape[] {
  const points = corners(shape);
  if (points === null) return [disc(24, 7, 7, INK), disc(24, 7, 6.2, colour)];
  const scaled = (by: number): [number, number][] => points.map(([x, y]) => [24 + (x - 12) * by, 7.4 + (y - 12) * by]);
  return [["poly", scaled(0.74), INK], ["poly", scaled(0.6), colour]];
}
