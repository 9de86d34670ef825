"use strict";
// The report's own script: sorting of tables, light and dark, and the replay player. It loads nothing.
(() => {
  const SVG = "http://www.w3.org/2000/svg";

  // ---------------------------------------------------------------- theme
  const theme = document.querySelector(".theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // ---------------------------------------------------------------- tables
  const compare = (a, b) => {
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
  };
  for (const button of document.querySelectorAll("button.sort")) {
    button.addEventListener("click", () => {
      const head = button.closest("th"), table = button.closest("table"), body = table.tBodies[0];
      const numeric = head.classList.contains("num");
      // Numbers are first asked for from the top, names from A.
      const next = { ascending: "descending", descending: "ascending" }[head.ariaSort] || (numeric ? "descending" : "ascending");
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", next);
      const sign = next === "ascending" ? 1 : -1;
      const key = (row) => row.cells[head.cellIndex].dataset.sort;
      // Nulls stay at the end either way.
      const rows = [...body.rows].sort((r, s) => {
        const a = key(r), b = key(s);
        if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
        return sign * compare(a, b);
      });
      body.append(...rows);
    });
  }

  // ---------------------------------------------------------------- shapes
  const make = (tag, attributes, children = []) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const draw = (shape) => {
    const [kind, ...v] = shape;
    switch (kind) {
      case "rect": return make("rect", { x: v[0], y: v[1], width: v[2], height: v[3], fill: v[4], rx: v[5] });
      case "circle": return make("circle", { cx: v[0], cy: v[1], r: v[2], fill: v[3] });
      case "ellipse": return make("ellipse", { cx: v[0], cy: v[1], rx: v[2], ry: v[3], fill: v[4] });
      case "poly": return make("polygon", { points: v[0].map((p) => p.join(",")).join(" "), fill: v[1] });
      case "line":
        return make("line", { x1: v[0], y1: v[1], x2: v[2], y2: v[3], stroke: v[4], "stroke-width": v[5], "stroke-linecap": "round" });
      case "text":
        return make("text", { x: v[0], y: v[1], "font-size": v[3], fill: v[4], "text-anchor": v[5], "dominant-baseline": "central" }, [String(v[2])]);
      case "group": return make("g", { transform: `translate(${v[0]} ${v[1]})` }, v[2].map(draw));
      default: throw new Error(`not a shape: ${kind}`);
    }
  };
  const place = (data, index) => {
    const kept = data.placed[index];
    return typeof kept[0] === "number"
      ? draw(["group", kept[1], kept[2], data.sprites[kept[0]].map((i) => data.shapes[i])])
      : draw(kept);
  };

  // ---------------------------------------------------------------- the player
  const words = (name) => String(name).replaceAll("_", " ");
  const colour = (seat) => `var(--seat-${seat % 6})`;
  const html = (tag, className, text = "") => {
    const node = document.createElement(tag);
    node.className = className;
    node.textContent = text;
    return node;
  };

  class Player {
    constructor(root) {
      this.root = root;
      this.find = (name) => root.querySelector(`.${name}`);
      this.episodes = JSON.parse(root.querySelector("script.episodes").textContent);
      this.timer = null;
      const on = (name, event, act) => this.find(name).addEventListener(event, act);
      on("play", "click", () => this.toggle());
      on("to-start", "click", () => this.pauseAt(0));
      on("back", "click", () => this.pauseAt(this.t - 1));
      on("forward", "click", () => this.pauseAt(this.t + 1));
      on("last-mark", "click", () => this.toMark(-1));
      on("next-mark", "click", () => this.toMark(1));
      on("scrub", "input", (e) => this.pauseAt(Number(e.target.value)));
      on("episode", "change", (e) => this.open(e.target.value));
      on("view", "change", (e) => { this.view = e.target.value; this.stageFor(); this.show(this.t); });
      on("speed", "change", () => { if (this.timer) { this.pause(); this.play(); } });
      this.open(this.episodes[0].id);
    }

    open(id, t = 0) {
      this.pause();
      this.data = this.episodes.find((e) => e.id === String(id));
      this.find("episode").value = this.data.id;
      this.find("scrub").max = this.data.steps;
      const names = Object.keys(this.data.views).sort(); // the view of everything, "", comes first
      this.view = names[0];
      this.find("view-choice").hidden = names.length < 2;
      this.find("view").replaceChildren(...names.map((name) => new Option(name === "" ? "everything" : this.data.seats[name], name)));
      this.stageFor();
      this.seats();
      this.talk();
      this.ticks();
      this.show(t);
    }

    stageFor() {
      const { data } = this;
      this.live = make("g", {});
      this.cache = new Map();
      const back = data.views[this.view].backdrop.map((i) => place(data, i));
      const picture = make("svg", { viewBox: `0 0 ${data.width} ${data.height}`, "font-family": "sans-serif", "font-weight": 700 });
      picture.append(...back, this.live);
      this.find("stage").replaceChildren(picture);
      this.shown = -1;
    }

    seats() {
      this.cards = this.data.agents.map((agent, seat) => {
        const card = html("li", "");
        card.style.setProperty("--seat", colour(seat));
        const where = html("div", "where");
        where.append(html("span", "", this.data.seats[seat] || ""), html("span", "earned"));
        card.append(html("div", "who", agent), where, html("div", "act"), html("div", "events"));
        return card;
      });
      this.find("seats").replaceChildren(...this.cards);
    }

    talk() {
      const list = this.find("talk");
      list.hidden = !this.data.remarks.length;
      this.said = this.data.remarks.map((remark) => {
        const line = html("li", "");
        if (remark.seat !== null && remark.seat !== undefined) line.style.setProperty("--seat", colour(remark.seat));
        line.append(html("span", "kind", `${remark.t} · ${words(remark.kind || "")}`), html("span", "", remark.text));
        line.addEventListener("click", () => this.pauseAt(remark.t));
        return line;
      });
      list.replaceChildren(...this.said);
    }

    ticks() {
      const bar = this.data.marks.map((mark) => {
        const tick = html("button", mark.to === undefined ? "" : "pass");
        tick.type = "button";
        tick.tabIndex = -1; // the arrow keys reach the marks
        tick.style.left = `${(100 * mark.t) / Math.max(1, this.data.steps)}%`;
        tick.style.setProperty("--seat", colour(mark.seat));
        tick.title = this.tell(mark);
        tick.setAttribute("aria-label", tick.title);
        tick.addEventListener("click", () => this.pauseAt(mark.t));
        return tick;
      });
      this.find("ticks").replaceChildren(...bar);
    }

    tell(mark) {
      const to = mark.to === undefined ? "" : ` → ${this.data.seats[mark.to] || mark.to}`;
      return `step ${mark.t}: ${this.data.seats[mark.seat] || ""}${to}, ${mark.label}`;
    }

    show(t) {
      const { data } = this;
      this.t = Math.max(0, Math.min(data.steps, Math.round(t) || 0));
      const seen = data.views[this.view], frame = seen.at[this.t];
      if (frame !== this.shown) {
        this.shown = frame;
        this.live.replaceChildren(...seen.frames[frame].map((i) => {
          if (!this.cache.has(i)) this.cache.set(i, place(data, i));
          return this.cache.get(i);
        }));
      }
      const earned = data.agents.map(() => 0);
      for (const [when, seat, points] of data.rewards) if (when <= this.t) earned[seat] += points;
      const total = earned.reduce((a, b) => a + b, 0);
      this.find("points").textContent = Number(total.toFixed(2));
      this.find("scrub").value = this.t;
      this.find("step").textContent = `${this.t} / ${data.steps}`;
      this.cards.forEach((card, seat) => {
        const action = this.t ? words(data.action_names[data.actions[seat][this.t - 1]] ?? "–") : "at the start";
        card.querySelector(".act").textContent = action;
        card.querySelector(".earned").textContent = earned[seat] ? `${Number(earned[seat].toFixed(2))} points` : "";
        const now = data.events.filter(([when, who]) => when === this.t && who === seat);
        card.querySelector(".events").textContent = now.map(([, , event]) => words(data.event_names[event])).join(", ");
      });
      this.find("happening").textContent = data.marks.filter((m) => m.t === this.t).map((m) => this.tell(m)).join(" · ");
      this.said.forEach((line, i) => {
        line.classList.toggle("later", data.remarks[i].t > this.t);
        line.classList.toggle("now", data.remarks[i].t === this.t);
      });
      const latest = this.said.filter((_, i) => data.remarks[i].t <= this.t).pop();
      if (latest) latest.parentNode.scrollTop = latest.offsetTop - latest.parentNode.offsetTop - latest.parentNode.clientHeight / 2;
      this.root.dataset.t = this.t;
      this.root.dataset.episode = data.id;
    }

    play() {
      if (this.t >= this.data.steps) this.show(0);
      this.root.classList.add("playing");
      this.find("play").setAttribute("aria-label", "Pause");
      this.timer = setInterval(() => {
        this.show(this.t + 1);
        if (this.t >= this.data.steps) this.pause();
      }, 1000 / Number(this.find("speed").value));
    }

    pause() {
      clearInterval(this.timer);
      this.timer = null;
      this.root.classList.remove("playing");
      this.find("play").setAttribute("aria-label", "Play");
    }

    toggle() { this.timer ? this.pause() : this.play(); }
    pauseAt(t) { this.pause(); this.show(t); }

    toMark(direction) {
      const times = this.data.marks.map((m) => m.t).filter((t) => direction * (t - this.t) > 0);
      if (times.length) this.pauseAt(direction > 0 ? Math.min(...times) : Math.max(...times));
    }
  }

  const players = [...document.querySelectorAll(".player")].map((root) => new Player(root));
  let current = players[0];
  for (const player of players) {
    for (const event of ["focusin", "pointerdown"]) player.root.addEventListener(event, () => { current = player; });
  }

  // Jump to a moment: from code, and from links and addresses that end in #replay-EPISODE@STEP.
  const jump = (episode, step = 0, behavior = "auto") => {
    const player = players.find((p) => p.episodes.some((e) => e.id === String(episode)));
    if (!player) return false;
    current = player;
    if (player.data.id !== String(episode)) player.open(episode, step);
    else player.pauseAt(step);
    player.root.scrollIntoView({ block: "center", behavior });
    return true;
  };
  const follow = (hash, behavior) => {
    const found = /^#replay-(.+?)(?:@(\d+))?$/.exec(decodeURIComponent(hash));
    return found ? jump(found[1], Number(found[2] || 0), behavior) : false;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#replay-']");
    if (!link) return;
    const hash = link.getAttribute("href");
    if (follow(hash)) { event.preventDefault(); history.replaceState(null, "", hash); }
  });
  addEventListener("hashchange", () => follow(location.hash));
  follow(location.hash, "instant");
  window.interplay = { jump, players };

  // ---------------------------------------------------------------- keys
  const visible = (node) => { const box = node.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; };
  document.addEventListener("keydown", (event) => {
    if (!current || event.altKey || event.ctrlKey || event.metaKey) return;
    const target = event.target, inside = current.root.contains(target);
    if (!inside && (target !== document.body || !visible(current.root))) return;
    if (target.matches("select") || (target.matches("button, a") && event.key === " ")) return;
    const jumpBy = event.shiftKey ? 10 : 1;
    const act = {
      " ": () => current.toggle(),
      ArrowLeft: () => current.pauseAt(current.t - jumpBy),
      ArrowRight: () => current.pauseAt(current.t + jumpBy),
      ...(inside ? {
        ArrowUp: () => current.toMark(-1),
        ArrowDown: () => current.toMark(1),
        Home: () => current.pauseAt(0),
        End: () => current.pauseAt(current.data.steps),
      } : {}),
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
})();
