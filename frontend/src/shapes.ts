/** A partner's sign: a colour and a shape, so that neither has to be told apart alone. */

import { h, svg } from "./dom";
import type { Alias } from "./types";

/** Corners of a regular figure around (12, 12). */
function figure(corners: number, outer: number, inner = outer, turn = -90): [number, number][] {
  const steps = inner === outer ? corners : 2 * corners;
  return Array.from({ length: steps }, (_, i) => {
    const angle = ((turn + (360 * i) / steps) * Math.PI) / 180;
    const radius = inner !== outer && i % 2 === 1 ? inner : outer;
    return [12 + radius * Math.cos(angle), 12 + radius * Math.sin(angle)];
  });
}

/** A closed curve by its formula, as corners that are close enough. */
function curve(point: (angle: number) => [number, number]): [number, number][] {
  return Array.from({ length: 40 }, (_, i) => point((2 * Math.PI * i) / 40));
}

const FIGURES: Record<string, [number, number][]> = {
  triangle: figure(3, 10.5),
  square: figure(4, 11, 11, -45),
  diamond: figure(4, 10.5),
  pentagon: figure(5, 10),
  hexagon: figure(6, 10),
  octagon: figure(8, 10),
  star: figure(5, 11, 4.6),
  cross: figure(4, 12, 5, -45),
  heart: curve((a) => [
    12 + 0.64 * 16 * Math.sin(a) ** 3,
    11 - 0.64 * (13 * Math.cos(a) - 5 * Math.cos(2 * a) - 2 * Math.cos(3 * a) - Math.cos(4 * a)),
  ]),
  drop: curve((a) => [12 + 9.5 * Math.sin(a) * Math.sin(a / 2), 12.5 - 10.5 * Math.cos(a)]),
  plus: figure(4, 12, 5, -45),
};

/** The figure's corners, or null for a circle (and for whatever we do not know). */
export function corners(shape: string): [number, number][] | null {
  return FIGURES[shape.toLowerCase()] ?? null;
}

const NAMED: Record<string, string> = {
  red: "#c8372d", orange: "#d9730d", yellow: "#e3b505", green: "#2f8f4e", teal: "#14808a", blue: "#2563c9",
  purple: "#7b3fb5", pink: "#d1478f", brown: "#8a5a33", grey: "#6b7280", gray: "#6b7280", black: "#23262b", white: "#f4f2ec",
};

export function paint(colour: string): string {
  return NAMED[colour.toLowerCase()] ?? colour;
}

export function sign(alias: Pick<Alias, "colour" | "shape">): SVGElement {
  const points = corners(alias.shape);
  const style = { fill: paint(alias.colour), stroke: "#1f2328", "stroke-width": 1.2, "stroke-linejoin": "round" };
  const inside =
    points === null
      ? svg("circle", { cx: 12, cy: 12, r: 9.5, ...style })
      : svg("polygon", { points: points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "), ...style });
  return svg("svg", { viewBox: "-1 -1 26 26", class: "sign", "aria-hidden": "true" }, inside);
}

export function badge(alias: Pick<Alias, "label" | "colour" | "shape">): HTMLElement {
  return h("span", { class: "badge" }, sign(alias), h("span", {}, alias.label));
}
