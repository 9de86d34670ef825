/** Elements in one line, without a framework. Attributes go through the DOM: nothing here parses HTML but `html`. */

type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as unknown as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

/** A block of the server's safe HTML. */
export function html(text: string): HTMLElement {
  const block = h("div", { class: "prose" });
  block.innerHTML = text;
  return block;
}

/** A drawing from the server, shown as an image: whatever is in it cannot run or restyle the page. */
export function picture(svg: string, fallback: string): HTMLImageElement {
  const title = new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("title")?.textContent;
  return h("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, alt: title || fallback });
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number>, ...children: Element[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Small memory that survives a reload; a browser that forbids it just forgets. */
export const memory = {
  read<T>(key: string, otherwise: T): T {
    try {
      const found = localStorage.getItem(`interplay:${key}`);
      return found === null ? otherwise : (JSON.parse(found) as T);
    } catch {
      return otherwise;
    }
  },
  write(key: string, value: unknown): void {
    try {
      localStorage.setItem(`interplay:${key}`, JSON.stringify(value));
    } catch {
      // Full or forbidden: the page works without.
    }
  },
  forget(key: string): void {
    try {
      localStorage.removeItem(`interplay:${key}`);
    } catch {
      // As above.
    }
  },
  /** Everything whose key begins like this. */
  forgetAll(start: string): void {
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith(`interplay:${start}`)) localStorage.removeItem(key);
    } catch {
      // As above.
    }
  },
};
