/** What the study asks of the device, and what the device is. */

import { h } from "./dom";
import type { Device } from "./types";
import { say } from "./words";

export interface DeviceReport {
  width: number;
  height: number;
  keyboard: boolean;
}

/** A mouse or touch pad comes with a keyboard; browsers do not say more about it. */
export function device(): DeviceReport {
  return { width: innerWidth, height: innerHeight, keyboard: matchMedia("(any-pointer: fine)").matches };
}

/** Why this device does not do; null where it does. */
function unsuitable(rule: Device): string | null {
  const own = device();
  if (rule.keyboard && !own.keyboard) return say("needs_keyboard");
  if (own.width < rule.min_width || own.height < rule.min_height) {
    return say("needs_window", rule.min_width, rule.min_height, own.width, own.height);
  }
  return null;
}

/** Says above the page why the device does not do, as long as it does not; `stop` keeps the page from being answered. */
export function screen(rule: Device, stop: (stopped: boolean) => void): { element: HTMLElement; close(): void } {
  const element = h("p", { class: "banner strong", role: "alert", hidden: true });
  const look = (): void => {
    const why = unsuitable(rule);
    element.hidden = why === null;
    element.textContent = why ?? "";
    stop(why !== null);
  };
  look();
  addEventListener("resize", look);
  return { element, close: () => removeEventListener("resize", look) };
}
