// The board of a relay: a corridor of cells, played by arrow keys and the space bar, or by buttons.
const KEYS = { ArrowLeft: "left", ArrowRight: "right", " ": "act" };

export const boards = {
  relay(controls, { h, say, sign, style }) {
    style(`.relay { display: flex; gap: .25rem; } .relay span { flex: 1; aspect-ratio: 1; display: grid; place-items: center;
      border: 1px solid #8a8f98; border-radius: .4rem; min-width: 0; } .relay .shelf { background: #d9cbb0; }
      .relay .sign { width: 60%; } .relay .parcel { font-weight: bold; }`);
    const corridor = h("div", { class: "relay", role: "img", tabindex: 0, "aria-label": say("game_view", "") });
    const words = { left: say("left"), right: say("right"), act: say("interact") };
    const buttons = Object.entries(words).map(([action, label]) =>
      h("button", { type: "button", "data-action": action, click: () => act(action) }, label));
    const element = h("div", { class: "relay-board" }, corridor, h("div", { class: "moves" }, ...buttons));
    let held = true, you = 0, reach = 0;
    const act = (action) => {
      if (!held) controls.act(action);
    };
    const press = (event) => {
      const action = KEYS[event.key];
      if (action === undefined || event.target instanceof HTMLButtonElement) return;
      event.preventDefault();
      if (!event.repeat) act(action);
    };
    document.addEventListener("keydown", press);
    const draw = ({ place, carries, shelf, text }) => {
      const cells = Array.from({ length: 2 * reach + 1 }, (_, x) => {
        const who = place.indexOf(x);
        const runner = who < 0 ? null : sign(who === you ? { colour: "#ffffff", shape: "circle" } : controls.alias);
        const parcel = (who >= 0 && carries[who]) || (x === reach && shelf);
        return h("span", { class: x === reach ? "shelf" : "" }, runner, parcel && h("b", { class: "parcel" }, "▣"));
      });
      corridor.setAttribute("aria-label", say("game_view", text));
      corridor.replaceChildren(...cells);
    };
    return {
      element,
      start(start) {
        you = start.you;
        reach = start.layout.reach;
      },
      tick: (tick) => draw(tick.view),
      hold(now) {
        held = now;
      },
      focus: () => corridor.focus({ preventScroll: true }),
      close: () => document.removeEventListener("keydown", press),
    };
  },
};
