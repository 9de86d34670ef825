/** A kitchen, as replays and reports draw it. Your chef is white, on a dark ring; the partner wears its sign. */

import type { Draw } from "./grid";
import { chef, contents, item, stamp, tile } from "./sprites";

const YOURS = "#ffffff"; // no partner is white

export const drawOvercooked: Draw = (ink, view, actors, look) => {
  view.terrain.forEach((row, y) => {
    for (let x = 0; x < view.width; x++) {
      const below = view.terrain[y + 1]?.[x] ?? "X";
      stamp(ink, x, y, tile(row[x] ?? " ", (x + y) % 2 === 1, below === " " || below === "."));
    }
  });
  for (const pot of view.pots) {
    if (pot.onions + pot.tomatoes > 0) stamp(ink, pot.x, pot.y, contents(pot.onions, pot.tomatoes, pot.timer));
  }
  for (const { x, y, kind, detail } of view.items) stamp(ink, x, y, item(kind, detail));
  for (const actor of actors) {
    const mine = actor.seat === look.you;
    const worn = mine ? { colour: YOURS, shape: null, mine } : { ...look.alias, mine };
    stamp(ink, actor.x, actor.y, chef(actor.facing, actor.held, actor.detail, worn));
  }
};
