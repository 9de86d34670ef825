"""Learning in Hanabi as a page: `interplay paper ah2ac2 page`.

Reads what benchmarks/hanabi_learning left in its results: stages (take_in.py), evaluation_*.json (evaluate.py),
crossplay_*.json (crossplay.py), likeness_*.json (likeness.py), table3_*.json (table3.py) and speed.json. Writes
docs/results/hanabi_learning.md and its pictures. What was not trained is not on the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from interplay.papers.ah2ac2.curves import HELD, curves, draw, speed
from interplay.papers.ah2ac2.formatting import interval, number, steps
from interplay.papers.ah2ac2.kl_weight_ablation import ablation, proxies
from interplay.papers.ah2ac2.published import METHODS, PUBLISHED_TABLE5
from interplay.papers.ah2ac2.stage_results import (
    LINES,
    RESULTS,
    ROOT,
    StageResults,
    cells,
    counts,
    load,
    median,
    method_of,
    split,
    trained_steps,
)
from interplay.papers.ah2ac2.words import findings
from interplay.papers.page_formatting import grid
from interplay.papers.preference import published as preference

PAGE = ROOT / "docs" / "results" / "hanabi_learning.md"
IMAGES = ROOT / "docs" / "images"

TABLE3 = (
    "self_play", "inter_xp", "ad_entropy", "ard_entropy", "ic", "ci", "g1", "g2", "g3", "ipp", "communicativeness",
)  # fmt: skip
BOTS_3P = (
    "No games of three people are here: at three players the clones that read vectors, HDR-IPPO and BR-BC are of "
    "H-Group bots' games, bc-1 and the proxies of people's games at two."
)

EARLIER_3P = (
    "These rows are of the clone and the proxies before the present ones, and of others that do not ship any more: "
    "`benchmarks/hanabi_learning/table3.py --players 3` makes them anew."
)


def budgets(records: StageResults) -> list[str]:
    """Return the steps that were trained, beside the papers' steps."""
    rows = []
    for name, record in records.stages.items():
        for number_of, attempt in enumerate([record, *records.earlier.get(name, [])]):
            rows.append(_budget(name + (" (another)" if number_of else ""), name, attempt))
    head = ["stage", "runs", "steps of each run", "published", "share", "steps/s (all runs)"]
    head += ["seconds, with compiling", "machine"]
    about = (
        "Nothing on this page is claimed beyond these steps. The tables below are of the attempt at each stage that "
        "ended with most points."
    )
    return ["## Budgets", "", about, "", *grid(head, rows)]


def _budget(label: str, stage: str, record: dict[str, Any]) -> list[Any]:
    method, _ = split(stage)
    theirs, config, last = METHODS.get(method), record["config"], record["curve"][-1]
    small = " (small deck)" if (config.get("game") or {}).get("options") else ""
    here = trained_steps(record)
    share = f"1/{theirs.number / here:,.0f}" if theirs and theirs.number and here else "–"
    done = steps(here) if here else f"{last['update']} epochs"
    # The first line compiles, the last one hardly waits.
    speeds = [line["steps_per_s"] for line in record["curve"] if line.get("steps_per_s")]
    pace = round(float(np.median(speeds))) if speeds and here else None
    return [
        label + small, config.get("runs", 1), done, theirs.steps if theirs else "–", share,
        f"{pace:,}" if pace else "–", number(record.get("wall_s"), 0), record.get("device", "–"),
    ]  # fmt: skip


def targets(records: StageResults) -> list[str]:
    """Return scores with themselves beside what the papers print."""
    rows = []
    for name, record in records.stages.items():
        method, players = split(name)
        theirs = METHODS.get(method)
        if method in ("metric_rewards", "metric_rewards_small", "fcp_population", "obl_belief") or theirs is None:
            continue
        returns = [r for r in record["curve"][-1].get("returns") or [] if r is not None]
        finals = ", ".join(number(r) for r in returns) or "–"
        rows.append([name, finals, theirs.score, theirs.proxies.get(str(players), "–"), theirs.source])
    head = ["stage", "return at the end, by run", "published self-play", "published with human proxies", "source"]
    lines = ["## Returns beside the published ones", "", *grid(head, rows)]
    about = "Returns are those of training: sampled moves, and for BR-BC, FCP and Any-Play with the partners of their "
    about += "training; of OBL in real games, though it learns from imagined steps. Two published scores are those of "
    about += f"two and three players. {BOTS_3P}"
    return [*lines, about, ""]


def _game(config: dict[str, Any]) -> str:
    """The game in words: a small deck is described."""
    options = config["game"].get("options") or {} if "game" in config else {}
    settings = ", ".join(f"{k} {v}" for k, v in options.items())
    return f"A small deck ({settings})" if settings else "The full game"


def metric_rewards(records: StageResults) -> list[str]:
    """Return what metrics as rewards change."""
    stages = [record for name, record in records.stages.items() if split(name)[0].startswith("metric_rewards")]
    lines = [line for record in stages for line in _paid(record)]
    return ["## Metrics as reward", "", *lines] if lines else []


def _paid(record: dict[str, Any]) -> list[str]:
    options, lines = record["config"]["algorithm"]["options"], record["curve"][-LINES:]
    names = [name for name in options["variants"] for _ in range(options.get("seeds", 1))]
    columns = ("returns", "g1s", "g2s", "g3s", "ad_entropys", "ard_entropys", "ics")
    rows = []
    for variant, paid in options["variants"].items():
        mine = [i for i, name in enumerate(names) if name == variant]
        prices = ", ".join(f"{k} {v:+g}" for k, v in paid.items()) or "–"
        cells_of = []
        for column in columns:
            known = [
                [line[column][i] for line in lines if line.get(column) and line[column][i] is not None] for i in mine
            ]
            values = [float(np.mean(of_run)) for of_run in known if of_run]
            spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
            cells_of.append(f"{np.mean(values):.3f}{spread}" if values else "–")
        rows.append([variant, prices, *cells_of])
    head = ["variant", "paid", "score", "g1", "g2", "g3", "AD-entropy", "ARD-entropy", "IC"]
    about = (
        f"{_game(record['config'])}: {steps(trained_steps(record))} steps of self-play each, {options.get('seeds', 1)} "
        f"seeds; mean over the last {len(lines)} log lines, and its spread over seeds. g1 and g2 are the shares of "
        "turns with a dominated move, g3 with a dominant one."
    )
    return [about, "", *grid(head, rows)]


PUBLISHED_CLONES = {2: (0.87, 0.46), 3: (0.70, 0.40)}  # 1,000 games: loss over all steps, accuracy
CLONES = {"bc": "", "bc_turns": " (remembers its own turns)"}


def clones(records: StageResults) -> list[str]:
    """Return how well clones predict people who are not in their training data."""
    rows = []
    for stage, attempt in records.stages.items():
        (method, players), last = split(stage), attempt.get("last", {})
        if method not in CLONES or players is None or "held_out" not in last:
            continue
        loss, accuracy = PUBLISHED_CLONES[players]
        held_out, chance = last["held_out"], last["chance"]
        cells = [interval(held_out[what]) for what in ("cross_entropy", "accuracy")]
        guess = [number(chance[what]["mean"]) for what in ("cross_entropy", "accuracy")]
        who = stage + CLONES[method] + ("" if players == 2 else " (of H-Group bots)")
        rows.append([who, *cells, *guess, number(players * loss), accuracy])
    if not rows:
        return []
    head = ["stage", "cross-entropy", "accuracy", "a guess by frequency", "its accuracy", "published", "its accuracy"]
    return [
        "## Clones and people", "",
        "Decisions of people whom the clone never met, nats each, with Student's interval over the splits. Published: "
        "clones of 1,000 games of practised people with each other; their loss is a mean over all steps, so it is "
        f"given here times the players. {BOTS_3P}", "", *grid(head, rows),
    ]  # fmt: skip


def foreseen(records: StageResults, players: int) -> list[str]:
    """Return how well rule bots, levels of skill, clones, proxies and trained agents predict people."""
    scored = records.people.get(players)
    if scored is None:
        return []
    rows = []
    for name, one in scored["policies"].items():
        shares = [f"{one[k]['mean']:.3f} ± {1.96 * one[k]['se']:.3f}" for k in ("cross_entropy", "accuracy")]
        top = f"{one['top_10_percent']['mean']:.2f}, {one['top_20_percent']['mean']:.2f}"
        trained = steps(one["steps"]) if one.get("steps") else "–"
        rows.append([name, *shares, top, f"{one['cross_entropy']['smoothing']:.2f}", trained])
    decisions = next(iter(scored["policies"].values()))["cross_entropy"]["n"]
    whose = "" if scored["split"] is None else f" that clones of split {scored['split']} (bc-4) were not trained on"
    return [
        f"## Who foresees people, {players} players", "",
        f"{decisions:,} decisions in {scored['games']} games{whose}, nats and shares each, with 95 % intervals over "
        "games. Of every opinion a share is spread evenly over the legal moves, for each half of the games the one "
        "that fits the other half best. `hgroup-regular` and `hgroup-novice` are H-Group bots with the lapses of two "
        "levels of skill, fitted to other people (`fit_levels.py`). `interplay paper ah2ac2 table3 TRACES` "
        "makes this table of any imported games.", "",
        *grid(["who", "cross-entropy", "accuracy", "top 10 %, 20 %", "spread evenly", "steps of training"], rows),
    ]  # fmt: skip


def evaluated(records: StageResults, players: int) -> list[str]:
    """Return the scores of likeliest moves in self-play over many games, and how well they predict people."""
    evaluation = records.evaluation.get(players)
    if evaluation is None or not evaluation["self_play"]:
        return []
    people, rows = evaluation.get("foreseen", {}), []
    for name, one in sorted(evaluation["self_play"].items()):
        score = f"{one['mean']:.2f} ± {1.96 * one['se']:.2f}"
        shares = [f"{100 * one['perfect']:.1f} %", f"{100 * one['zero']:.1f} %", round(one["min"])]
        seen = [interval(people.get(name, {}).get(what)) for what in ("cross_entropy", "accuracy")]
        rows.append([name, score, one["median"], *shares, *seen, one["games"]])
    who = "people" if players == 2 else "H-Group bots"
    head = ["policy", "self-play", "median", "perfect", "zero", "least", f"cross-entropy of {who}", "accuracy", "games"]
    return [f"## Likeliest moves, {players} players", "", *grid(head, rows)]


def crossplay(records: StageResults, players: int) -> list[str]:
    """Return the cross-play matrix."""
    matrix = records.crossplay.get(players)
    if matrix is None:
        return []
    names, mean = [a["name"] for a in matrix["agents"]], cells(records, players)
    rows = [[a, *(f"**{mean[a, b]:.1f}**" if a == b else f"{mean[a, b]:.1f}" for b in names)] for a in names]
    games = min(r["n"] for r in matrix["rows"])
    seats = "in either seat" if players == 2 else "as one of three, in every seat, beside two of the partner"
    about = f"Mean score of the row's agent {seats}, all by their likeliest moves; {games} games a seating."
    about += " With itself in bold."
    outside = {a: float(np.mean([mean[a, b] for b in names if b != a])) for a in names} if len(names) > 1 else {}
    order = ", ".join(f"{a} {v:.1f}" for a, v in sorted(outside.items(), key=lambda x: -x[1]))
    stages = {a["name"]: a for a in matrix["agents"] if "stage" in a}
    who = ", ".join(f"{n}: {_who(stages[n])}" for n in names if n in stages)
    return [
        f"## Cross-play, {players} players", "", about, "", *grid(["", *names], rows),
        f"With all others on average: {order}.", "", *([f"Who they are: {who}.", ""] if who else []),
    ]  # fmt: skip


def _who(one: dict[str, Any]) -> str:
    which = f"λ = {one['hold']:g}" if "hold" in one else f"run {one['run']}"
    return f"{one['stage']}, {which}"


def searched(records: StageResults) -> list[str]:
    """Return what search adds."""
    if not records.search:
        return []
    rows = []
    for r in records.search:
        score = f"{r['mean']:.2f} ± {1.96 * (r['sd'] or 0) / r['n'] ** 0.5:.2f}"
        rows.append([r["agent"], r["partner"], r["players"], score, r["n"]])
    return ["## Search", "", *grid(["agent", "partner", "players", "mean score", "games"], rows)]


def table3(records: StageResults) -> list[str]:
    """Return Table 3 of the preference paper beside ours."""
    lines: list[str] = []
    for players, own in sorted(records.table3.items()):
        rows = [[r["agent"], *(number(r.get(c), 3) for c in TABLE3)] for r in own]
        for agent, printed in preference.table3().items() if players == 2 else ():
            means = {metric: number(mean, 3) for metric, (mean, _) in printed.items() if metric != "intra_xp"}
            rows.append([f"*{agent}, published*", *(means.get(c, "–") for c in TABLE3)])
        words = [] if players == 2 else [f"The paper has two players only. {EARLIER_3P}", ""]
        lines += [f"### {players} players", "", *words, *grid(["agent", *TABLE3], rows)]
    if not lines:
        return []
    about = "The objective metrics of the metrics paper's Table 3 for these agents as one pool, points kept after the "
    about += "third bomb. All but self-play depend on the pool, which is another one in the published rows."
    return ["## As rows of the metrics paper's Table 3", "", about, "", *lines]


SHORT = {"BR-BC": "br_bc", "FCP": "fcp", "OP": "op", "HDR-IPPO": "hdr", "IPPO": "ippo", "BC": "bc", "OBL (L4)": "obl"}


def table5(records: StageResults) -> list[str]:
    """Scores with the proxies that we have, beside the published ones with the hidden proxies."""
    lines: list[str] = []
    for players, published in PUBLISHED_TABLE5.items():
        rows = [_with_proxies(records, players, method, theirs) for method, theirs in published.items()]
        if all(row[1] == "–" for row in rows):
            continue
        who = ", ".join(records.proxies[players])
        head = ["method", "mean here", "median", "cross-entropy", "published mean", "median", "cross-entropy", "who"]
        lines += [f"### {players} players: with {who}", "", *grid(head, rows)]
    if not lines:
        return []
    about = (
        "Published: 1,000 games with two hidden proxies trained on 101,096 (two players) or 46,525 games of people. "
        "Here: with the proxies of this page, likeliest moves, the agent in every seat once and the proxy in the "
        "others. At two players the proxies learnt from about two thousand games of people with bots and are weaker "
        f"partners. {BOTS_3P} Cross-entropies here are divided by the players, as the published ones are means over "
        "all steps; OBL here is the highest level that was trained. The columns tell what was measured; they are not "
        "to be compared number by number."
    )
    return ["## As rows of the challenge's Table 5", "", about, "", *lines]


def _with_proxies(records: StageResults, players: int, method: str, theirs: tuple[str, ...]) -> list[Any]:
    proxies_here = records.proxies[players]
    agents = [a for a in records.crossplay.get(players, {}).get("agents", []) if not a["name"].startswith("hanabi/")]
    if method == "human proxies":
        mine = [a for a in agents if a["name"] in proxies_here]
    else:
        mine = [a for a in agents if method_of(a["name"]).startswith(SHORT[method]) and a["name"] not in proxies_here]
        if method == "OBL (L4)":
            mine = mine[-1:]
    games: list[int] = []
    for one in mine:
        of = counts(records, players, one["name"], proxies_here)
        games += [0] * (len(of) - len(games))
        games = [a + b for a, b in zip(games, of + [0] * (len(games) - len(of)), strict=True)]
    if not sum(games):
        return [method, "–", "–", "–", *theirs, "–"]
    mean = sum(p * n for p, n in enumerate(games)) / sum(games)
    people = records.evaluation.get(players, {}).get("foreseen", {})
    names = [f"{a['stage']}/{a['hold']:g}" if "hold" in a else f"{a['stage']}/{a['run']}" for a in mine if "stage" in a]
    losses = [people[n]["cross_entropy"]["mean"] / players for n in names if n in people]
    loss = number(float(np.mean(losses))) if losses else "–"
    return [method, number(mean), number(median(games), 0), loss, *theirs, ", ".join(a["name"] for a in mine)]


def page(records: StageResults) -> str:
    """Return the whole page."""
    head = [
        "# Learning in Hanabi", "",
        "Clones of people, HDR-IPPO and the learned baselines of Hanabi, trained here within minutes on one GPU or two "
        "CPU cores, beside what the papers trained for days. This page is written by "
        "`interplay paper ah2ac2 page` from `benchmarks/hanabi_learning/results`; "
        "[the guide](../guide/hanabi_learning.md) tells what each method is.", "",
    ]  # fmt: skip
    if not records.stages and not records.crossplay and not records.evaluation:
        return "\n".join([*head, "Nothing has been trained yet.", ""])
    parts = [budgets(records), curves(records), speed(records), targets(records), clones(records)]
    parts += [foreseen(records, players) for players in (2, 3)]
    for players in (2, 3):
        parts += [proxies(records, players), ablation(records, players)]
        if players == 2 and "hdr_2p" in records.stages:
            parts.append([f"![Return and distance from the clone by its weight](../images/{HELD})", ""])
    parts += [part(records, players) for players in (2, 3) for part in (evaluated, crossplay)]
    parts += [searched(records), metric_rewards(records), table3(records), table5(records)]
    said = findings(records)
    words = ["## What it says", "", *said, ""] if said else []
    return "\n".join([*head, *words, *(line for part in parts for line in part)]).rstrip() + "\n"


def write_page() -> Path:
    """Write the page of results and its pictures from the files that the benchmark's scripts left behind."""
    results = load(RESULTS)
    draw(results, IMAGES)
    PAGE.write_text(page(results))
    return PAGE
