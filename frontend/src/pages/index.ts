/** The page types that the browser can show: ours, and those that modules of other packages bring. */

import type { Page, PageView } from "../types";
import { consent } from "./consent";
import { done } from "./done";
import { form, quiz } from "./form";
import { game } from "./game";
import { instructions } from "./instructions";
import type { Shell, Shown } from "./page";
import { ranking } from "./ranking";
import { wait } from "./wait";

export type PageRenderer = (page: PageView, shell: Shell) => Shown;

type Ours = { [Kind in Page["kind"]]: (page: Extract<Page, { kind: Kind }>, shell: Shell) => Shown };

const ours: Ours = { consent, form, quiz, instructions, ranking, game, wait, done };

/** By `kind`. Each renderer is only called with pages of its own kind. */
export const PAGES: Record<string, PageRenderer> = { ...(ours as unknown as Record<string, PageRenderer>) };
