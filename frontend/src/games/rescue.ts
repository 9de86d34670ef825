/** A house from above: people to be found and treated, rubble, fires, tools, and the dark that one does not see. */

import { paint } from "../shapes";
import type { Actor, GridView, Item } from "../types";
import type { Draw } from "./grid";
import { box, disc, type Ink, label, OUTLINE, path, person, stroke, way } from "./pencil";

const FLOOR = ["#eef0ee", "#e6e9e6"];
const ROLE: Record<string, { hat: string; mark: string }> = {
  nurse: { hat: "#ffffff", mark: "+" },
  firefighter: { hat: "#d1492f", mark: "F" },
  police: { hat: "#3b3f8f", mark: "★" },
};

export const drawRescue: Draw = (ink, view, actors, look) => {
  view.terrain.forEach((row, y) => {
    for (let x = 0; x < view.width; x++) tile(ink, row[x] ?? " ", x, y);
  });
  for (const item of view.items) thing(ink, item.kind, item.x + 0.5, item.y + 0.5, 1, item);
  for (const actor of actors) rescuer(ink, actor, look);
  shade(ink, view);
};

function tile(ink: Ink, kind: string, x: number, y: number): void {
  if (kind === "#" || kind === "X") {
    box(ink, x, y, 1.01, 1.01, "#565b63");
    box(ink, x, y, 1.01, 0.82, "#6c727b");
    return;
  }
  box(ink, x, y, 1.01, 1.01, kind === "!" ? "#f6cfc8" : (FLOOR[(x + y) % 2] ?? ""));
  if (kind === "+") box(ink, x + 0.1, y + 0.1, 0.8, 0.8, "#d8b98a", 0.08);
  if (kind === "!") {
    // Danger by stripes too, not by colour alone.
    ink.beginPath();
    for (const s of [0.25, 0.5, 0.75]) {
      ink.moveTo(x + s - 0.12, y + 0.95);
      ink.lineTo(x + s + 0.12, y + 0.05);
    }
    stroke(ink, "#d98b80", 0.04);
  }
}

function thing(ink: Ink, kind: string, x: number, y: number, scale: number, item?: Item): void {
  ink.save();
  ink.translate(x, y);
  ink.scale(scale, scale);
  if (kind === "debris") {
    for (const [dx, dy, r] of [[-0.18, 0.12, 0.2], [0.16, 0.14, 0.18], [0, -0.12, 0.22]] as const) {
      path(ink, [[dx - r, dy + r * 0.6], [dx - r * 0.5, dy - r], [dx + r * 0.7, dy - r * 0.6], [dx + r, dy + r * 0.7]], "#8b8378", OUTLINE);
    }
  } else if (kind === "fire") {
    path(ink, [[0, -0.42], [0.2, -0.1], [0.32, -0.2], [0.3, 0.3], [-0.3, 0.3], [-0.32, -0.08], [-0.14, -0.02]], "#e2541b", OUTLINE);
    path(ink, [[0.02, -0.12], [0.16, 0.26], [-0.16, 0.26]], "#f9c74f");
  } else if (kind === "kit") {
    box(ink, -0.27, -0.18, 0.54, 0.4, "#c8372d", 0.05);
    box(ink, -0.05, -0.13, 0.1, 0.3, "#ffffff");
    box(ink, -0.15, -0.03, 0.3, 0.1, "#ffffff");
  } else if (kind === "extinguisher") {
    box(ink, -0.12, -0.16, 0.24, 0.46, "#c8372d", 0.1);
    box(ink, -0.05, -0.3, 0.22, 0.1, OUTLINE, 0.03);
  } else if (kind.startsWith("victim")) victim(ink, item);
  ink.restore();
}

/** Lying; with a question mark before it is reported, with a tick after treatment, with a ring of what is done. */
function victim(ink: Ink, item?: Item): void {
  const detail = String(item?.detail ?? "");
  const treated = /treated/.test(detail);
  box(ink, -0.38, -0.1, 0.5, 0.26, treated ? "#4d9a63" : "#c99a3b", 0.1);
  disc(ink, 0.24, 0.02, 0.14, "#f2cfa8", OUTLINE);
  const share = /(\d+)\s*%/.exec(detail)?.[1];
  if (treated) label(ink, "✓", -0.14, 0.04, 0.3, "#ffffff");
  else if (/seen/.test(detail)) label(ink, "?", -0.14, 0.04, 0.3, OUTLINE);
  else if (share !== undefined) {
    ink.beginPath();
    ink.arc(0, 0, 0.42, -Math.PI / 2, -Math.PI / 2 + (2 * Math.PI * Number(share)) / 100);
    stroke(ink, paint("green"), 0.07);
  }
}

function rescuer(ink: Ink, actor: Actor, look: Parameters<Draw>[3]): void {
  const role = ROLE[actor.role ?? ""];
  person(ink, actor, look, 0.27, (pen) => {
    if (role === undefined) return;
    box(pen, -0.16, -0.28, 0.32, 0.14, role.hat, 0.05);
    label(pen, role.mark, 0, -0.2, 0.16, role.hat === "#ffffff" ? "#c8372d" : "#ffffff");
  });
  if (actor.guarded && actor.role !== "police") guard(ink, actor);
  if (!actor.held) return;
  const [dx, dy] = way(actor.facing);
  thing(ink, actor.held, actor.x + 0.5 + dx * 0.3, actor.y + 0.56 + dy * 0.22, 0.6);
}

/** A shield, for those whom an officer guards: they may work in danger zones. */
function guard(ink: Ink, actor: Actor): void {
  const [x, y] = [actor.x + 0.84, actor.y + 0.16];
  path(ink, [[x - 0.12, y - 0.12], [x + 0.12, y - 0.12], [x + 0.1, y + 0.06], [x, y + 0.16], [x - 0.1, y + 0.06]], "#3b3f8f", "#ffffff");
}

function shade(ink: Ink, view: GridView): void {
  for (const [x, y] of view.unseen ?? []) box(ink, x, y, 1, 1, "rgb(20 24 32 / 28%)");
}
