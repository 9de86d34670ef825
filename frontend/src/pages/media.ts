/** Pictures, videos and positions of games beside texts and questions. */

import { h, picture } from "../dom";
import { prefix } from "../site";
import { HanabiBoard } from "../games/hanabi";
import type { MediaView, Start } from "../types";
import { say } from "../words";

export function media(shown: MediaView): HTMLElement {
  switch (shown.kind) {
    case "image":
      return h("figure", { class: "media" }, h("img", { src: prefix + (shown.src ?? ""), alt: shown.alt }));
    case "video": {
      const track = !shown.captions ? null : h("track", { kind: "captions", src: prefix + shown.captions, default: true });
      const video = h("video", { controls: true, preload: "metadata", src: prefix + (shown.src ?? ""), "aria-label": shown.alt, playsinline: true }, track);
      return h("figure", { class: "media" }, video);
    }
    case "drawing":
      return h("figure", { class: "media" }, picture(shown.svg ?? "", shown.alt));
    case "board":
      return position(shown);
  }
}

/** A board that stands still: everything on it can be read, nothing can be done. */
function position(shown: MediaView): HTMLElement {
  const nothing = (): void => undefined;
  const controls = { act: nothing, move: nothing, chat: nothing, alias: { label: say("partner"), colour: "#4d4d4d", shape: "circle" }, key: "position" };
  const board = new HanabiBoard(controls);
  board.start(shown.start as Start);
  board.tick({ type: "tick", t: 0, score: 0, left_s: null, view: shown.view });
  board.ended();
  for (const part of board.element.querySelectorAll(".all-moves, .note")) part.remove();
  board.element.inert = true;
  return h("figure", { class: "media position", role: "img", "aria-label": shown.alt }, board.element);
}
