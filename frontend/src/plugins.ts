/** Modules of other packages: each exports `pages` (by kind), `boards` (by name), or both, and is loaded once.
 *
 *   export const pages = { allocation: (page, shell, kit) => ({ elements: [kit.html(page.text), ...] }) };
 *   export const boards = { relay: (controls, kit) => ({ element, start, tick, hold, focus, close }) };
 *
 * `kit` holds what our own pages are made of, so that a module needs no build and no copy of it.
 */

import { h, html, memory, picture, svg } from "./dom";
import type { Board, Controls } from "./games/board";
import { BOARDS } from "./games";
import { PAGES } from "./pages";
import { Complaints } from "./pages/complaints";
import type { Shell, Shown } from "./pages/page";
import { ask } from "./pages/questions";
import { badge, paint, sign } from "./shapes";
import { prefix } from "./site";
import type { PageView } from "./types";
import { clock, say, thing } from "./words";

export const kit = {
  h, html, svg, picture, memory, badge, sign, paint, say, thing, clock,
  /** A question with its field, as forms show it. */
  question: ask,
  /** Complaints about answers beside their fields, with a summary. */
  complaints: (): Complaints => new Complaints(),
  /** Add rules to the page's style. */
  style(rules: string): void {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rules);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  },
};
export type Kit = typeof kit;

export interface PluginModule {
  pages?: Record<string, (page: PageView, shell: Shell, kit: Kit) => Shown>;
  boards?: Record<string, (controls: Controls, kit: Kit) => Board>;
}

const loaded = new Set<string>();

export function allLoaded(scripts: string[]): boolean {
  return scripts.every((script) => loaded.has(script));
}

/** Load modules and add what they export; what one of them lacks shows when its page is opened. */
export async function load(scripts: string[]): Promise<void> {
  for (const script of scripts) {
    if (loaded.has(script)) continue;
    const module = (await import(prefix + script)) as PluginModule;
    for (const [kind, show] of Object.entries(module.pages ?? {})) PAGES[kind] = (page, shell) => show(page, shell, kit);
    for (const [name, make] of Object.entries(module.boards ?? {})) BOARDS[name] = (controls) => make(controls, kit);
    loaded.add(script);
  }
}
