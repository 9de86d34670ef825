/** The boards on which games are played: ours, and those that modules of other packages bring. */

import type { Board, Controls } from "./board";
import { GridBoard } from "./grid";
import { HanabiBoard } from "./hanabi";
import { drawOvercooked } from "./overcooked";
import { drawRescue } from "./rescue";
import { SceneBoard } from "./scene";

export type BoardMaker = (controls: Controls) => Board;

const COMPASS = { up: "north", down: "south", left: "west", right: "east" };
const PLAIN = { up: "up", down: "down", left: "left", right: "right" };

/** By the `board` of a game's browser view. */
export const BOARDS: Record<string, BoardMaker> = {
  overcooked: (controls) => new GridBoard(controls, drawOvercooked, COMPASS),
  rescue: (controls) => new GridBoard(controls, drawRescue, PLAIN),
  hanabi: (controls) => new HanabiBoard(controls),
  kitchen: (controls) => new SceneBoard(controls, true),
  scene: (controls) => new SceneBoard(controls, false),
};
