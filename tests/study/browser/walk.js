// A walk through a page that finds what people with a keyboard, a screen reader or weak eyes would stumble over.
// Gives sentences, none where all is well.
() => {
  const CONTRAST = 4.5; // of text to its ground, by the formula of WCAG
  const CONTRAST_LARGE = 3; // of large text
  const SMALLEST = 24; // pixels of what is pressed, each way
  const wrong = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const visible = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const unseen = (e) => e.closest(".unseen") !== null;
  const tell = (what, e) => wrong.push(`${what}: ${e.outerHTML.slice(0, 160)}`);
  const named = (e) =>
    (e.getAttribute("aria-label") || e.getAttribute("alt") || e.title || e.textContent || "").trim() ||
    [...(e.labels || [])].map((label) => label.textContent.trim()).join("");

  // Names and ids.
  const SPOKEN = "button, input, select, textarea, a[href], img, canvas, [role=group], [role=log], progress";
  for (const e of all(SPOKEN)) if (visible(e) && !named(e)) tell("no name", e);
  const ids = all("[id]").map((e) => e.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) wrong.push(`id ${id} twice`);
  for (const at of ["aria-describedby", "aria-labelledby", "for"]) {
    for (const e of all(`[${at}]`)) {
      const lost = e.getAttribute(at).split(" ").filter((id) => id && !document.getElementById(id));
      if (lost.length > 0) tell(`${at} leads nowhere`, e);
    }
  }

  // The document: its language, one first heading, no level left out.
  if (!document.documentElement.lang) wrong.push("no language");
  if (!document.title) wrong.push("no title");
  const levels = all("h1, h2, h3, h4").filter(visible).map((e) => Number(e.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) wrong.push(`headings of level 1: ${levels}`);
  const jumps = levels.some((level, i) => i > 0 && level > levels[i - 1] + 1);
  if (jumps) wrong.push(`a level of headings is left out: ${levels}`);
  if (all("main").length !== 1) wrong.push("not one main");
  for (const e of all("fieldset")) if (!e.querySelector("legend")) tell("no legend", e);

  // The order of the focus is that of the document, and nothing out of sight takes it.
  for (const e of all("[tabindex]")) if (e.tabIndex > 0) tell("its own place in the order", e);
  for (const e of all("[aria-hidden=true] :is(button, input, select, a)")) tell("hidden, but takes the focus", e);

  // What changes by itself is told.
  const live = all("main :is([role=status], [aria-live], [role=log])");
  if (document.querySelector("main.is-game") && live.length === 0) wrong.push("no live region in a game");

  // Nothing is cut off at the sides, and what is pressed is large enough.
  const width = document.documentElement.clientWidth;
  const whole = document.documentElement.scrollWidth;
  if (whole > width) wrong.push(`scrolls sideways: ${whole} of ${width}`);
  for (const e of all("main *, header *")) {
    if (!visible(e) || unseen(e) || e.closest("svg")) continue;
    const { left, right, width: wide, height: high } = e.getBoundingClientRect();
    if (wide > 0 && (left < -1 || right > width + 1)) tell(`cut off (${left} to ${right} of ${width})`, e);
    const pressed = e.matches("button, select, summary, a.button");
    if (pressed && (wide < SMALLEST || high < SMALLEST)) tell("too small to press", e);
    const block = getComputedStyle(e).overflowX === "visible" && e.clientWidth > 0 && !e.matches("canvas");
    if (block && e.scrollWidth > e.clientWidth + 2) tell("what is in it runs out of it", e);
  }

  // Contrast.
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const linear = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const [r, g, b, opaque = 1] = parts(getComputedStyle(at).backgroundColor);
      if (opaque > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  for (const e of all("body *")) {
    const own = [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !visible(e) || unseen(e) || e.disabled || e.closest("[aria-disabled=true]")) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(parts(style.color)), light(ground(e))];
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (large ? CONTRAST_LARGE : CONTRAST)) tell(`contrast ${ratio.toFixed(1)}`, e);
  }
  return wrong;
}
