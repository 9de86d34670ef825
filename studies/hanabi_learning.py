"""Learning in Hanabi as a page: `python studies/hanabi_learning.py`.

Reads what benchmarks/hanabi_learning left in benchmarks/hanabi_learning/results: what run.py wrote of stages, what
crossplay.py wrote of matrices, and table3.json. Writes docs/results/hanabi_learning.md. What was not trained is not
on the page.

    python studies/hanabi_learning.py --measure ippo=FILE.safetensors hanabi/smart     # writes table3.json first

The measures of Table 3 need the metrics, so they are taken here and not where training ran.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from hanabi_learning_data import LINES, RESULTS, ROOT, Found, load, method_of, pairs, split, trained_steps
from hanabi_learning_published import METHODS, PUBLISHED_TABLE3, PUBLISHED_TABLE5, TABLE3_COLUMNS
from hanabi_learning_words import findings

PAGE = ROOT / "docs" / "results" / "hanabi_learning.md"


TABLE3 = (
    "self_play",
    "inter_xp",
    "ad_entropy",
    "ard_entropy",
    "ic",
    "ci",
    "g1",
    "g2",
    "g3",
    "ipp",
    "communicativeness",
)


def table(head: list[str], rows: list[list[Any]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|'}{'---:|' * (len(head) - 1)}"]
    return [*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows), ""]


def number(value: Any, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def budgets(found: Found) -> list[str]:
    """What was trained, beside what the papers trained. Nothing on this page is claimed beyond these steps."""
    rows = []
    for name, told in found.stages.items():
        method, _ = split(name)
        theirs, config, last = METHODS.get(method), told["config"], told["curve"][-1]
        small = " (small deck)" if (config.get("game") or {}).get("options") else ""
        steps = trained_steps(told)
        share = f"1/{theirs.number / steps:,.0f}" if theirs and theirs.number and steps else "–"
        here = f"{steps:.2g}" if steps else f"{last['update']} epochs"
        speeds = [line["steps_per_s"] for line in told["curve"] if line.get("steps_per_s")]
        speed = (
            round(float(np.median(speeds))) if speeds else None
        )  # the first line compiles, the last one hardly waits
        rows.append([
            name + small, config.get("runs", 1), here, theirs.steps if theirs else "–", share,
            f"{speed:,}" if speed and steps else "–", number(told.get("wall_s"), 0),
        ])  # fmt: skip
    head = ["stage", "runs", "steps of each run", "published", "share", "steps/s (all runs)", "seconds, with compiling"]
    return ["## Budgets", "", *table(head, rows)]


def targets(found: Found) -> list[str]:
    rows = []
    for name, told in found.stages.items():
        method, players = split(name)
        theirs = METHODS.get(method)
        if method in ("metric_rewards", "fcp_population", "obl_belief") or theirs is None:
            continue
        returns = [r for r in told["curve"][-1].get("returns") or [] if r is not None]
        shown = ", ".join(number(r) for r in returns) or "–"
        rows.append([name, shown, theirs.score, theirs.proxies.get(players or 0, "–"), theirs.source])
    head = ["stage", "return at the end, by run", "published self-play", "published with human proxies", "source"]
    lines = ["## Returns beside the published ones", "", *table(head, rows)]
    about = "Returns are those of training: sampled moves, and for BR-BC, FCP and Any-Play with the partners of their "
    about += "training; of OBL-1 in real games, though it learns from imagined steps."
    return [*lines, about, ""]


def _game(config: dict[str, Any]) -> str:
    """The game in words: a small deck is told."""
    options = config["game"].get("options") or {} if "game" in config else {}
    told = ", ".join(f"{k} {v}" for k, v in options.items())
    return f"A small deck ({told})" if told else "The full game"


def metric_rewards(found: Found) -> list[str]:
    told = next((t for n, t in found.stages.items() if split(n)[0] == "metric_rewards"), None)
    if told is None:
        return []
    options, lines = told["config"]["algorithm"]["options"], told["curve"][-LINES:]
    names = [name for name in options["variants"] for _ in range(options.get("seeds", 1))]
    columns = ("returns", "g1s", "g2s", "g3s", "ad_entropys", "ard_entropys", "ics")
    rows = []
    for variant, paid in options["variants"].items():
        mine = [i for i, name in enumerate(names) if name == variant]
        prices = ", ".join(f"{k} {v:+g}" for k, v in paid.items()) or "–"
        cells = []
        for column in columns:
            known = [
                [line[column][i] for line in lines if line.get(column) and line[column][i] is not None] for i in mine
            ]
            values = [float(np.mean(of_run)) for of_run in known if of_run]
            spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
            cells.append(f"{np.mean(values):.3f}{spread}" if values else "–")
        rows.append([variant, prices, *cells])
    head = ["variant", "paid", "score", "g1", "g2", "g3", "AD-entropy", "ARD-entropy", "IC"]
    about = (
        f"{_game(told['config'])}: {trained_steps(told):.2g} steps of self-play each, {options.get('seeds', 1)} seeds; "
        f"mean over the last {len(lines)} log lines, and its spread over seeds. g1 and g2 are the shares of turns with "
        "a dominated move, g3 with a dominant one."
    )
    return ["## Metrics as reward", "", about, "", *table(head, rows)]


PUBLISHED_CLONES = {"bc_2p": (0.87, 0.46), "bc_3p": (0.70, 0.40)}  # 1,000 games: loss over all steps, accuracy


def clones(found: Found) -> list[str]:
    """What clones predict of people they never met, and how they behave beside them."""
    rows = []
    for stage, (loss, accuracy) in PUBLISHED_CLONES.items():
        last = found.stages.get(stage, {}).get("last", {})
        if "held_out" not in last:
            continue
        held, chance = last["held_out"], last["chance"]
        told = [f"{held[w]['mean']:.3f} [{held[w]['low']:.3f}, {held[w]['high']:.3f}]" for w in held]
        guess = [number(chance[w]["mean"]) for w in ("cross_entropy", "accuracy")]
        rows.append([stage, *told, *guess, number(int(stage[3]) * loss), accuracy])
    if not rows:
        return []
    head = ["stage", "cross-entropy", "accuracy", "a guess by frequency", "its accuracy", "published", "its accuracy"]
    lines = [
        "## Clones and people", "",
        "Decisions of people whom the clone never met, nats each, with Student's interval over the splits. Published: "
        "clones of 1,000 games of practised people with each other; their loss is a mean over all steps, so it is "
        "given here times the players.", "", *table(head, rows),
    ]  # fmt: skip
    if found.likeness:
        people = found.likeness["people"]
        rows = [["people", number(people["ipp"]), number(people["communicativeness"]), "–"]]
        for name, one in found.likeness["clones"].items():
            rows.append([name, *(number(one[k]) for k in ("ipp", "communicativeness", "points_kept"))])
        about = "IPP: of colour and rank, the share that hints had told of the cards played. Communicativeness: of the "
        about += "turns with a token, the share with a hint. Clones with themselves, sampled or (+) by likeliest moves."
        lines += [about, "", *table(["", "IPP", "communicativeness", "points before the third bomb"], rows)]
    return lines


def evaluated(found: Found, players: int) -> list[str]:
    """Likeliest moves: self-play over many games, cross-play, and how well people are foreseen."""
    held = found.evaluation.get(players)
    if held is None:
        return []
    lines = [f"## Likeliest moves, {players} players", ""]
    people = held.get("foreseen", {})

    def told(name: str, what: str) -> str:
        one = people.get(name, {}).get(what)
        return "–" if one is None else f"{one['mean']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"

    rows = []
    for name, one in held["self_play"].items():
        score = f"{one['mean']:.2f} ± {1.96 * one['se']:.2f}"
        shares = [f"{100 * one['perfect']:.1f} %", f"{100 * one['zero']:.1f} %"]
        rows.append([name, score, one["median"], *shares, told(name, "cross_entropy"), told(name, "accuracy")])
    head = ["policy", "self-play", "median", "perfect", "zero", "cross-entropy of people", "accuracy"]
    lines += table(head, rows)
    crossed = held.get("cross_play")
    if crossed:
        names = crossed["agents"]
        rows = [[a, *(f"**{v:.1f}**" if i == j else f"{v:.1f}" for j, v in enumerate(crossed["mean"][i]))]
                for i, a in enumerate(names)]  # fmt: skip
        seats = "either seat" if players == 2 else "one seat of three, with the column's agent in the others"
        lines += [
            f"Cross-play, {crossed['games']} games a line-up: the row's agent in {seats}.",
            "",
            *table(["", *names], rows),
        ]
    return lines


def crossplay(found: Found, players: int) -> list[str]:
    held = found.crossplay.get(players)
    if held is None:
        return []
    names = [a["name"] for a in held["agents"]]
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in held["rows"]:
        cells.setdefault((row["agent"], row["partner"]), []).append(row)

    def mean(a: str, b: str) -> float:
        return float(np.mean([r["mean"] for r in cells[a, b]]))

    rows = [[a, *(f"**{mean(a, b):.1f}**" if a == b else f"{mean(a, b):.1f}" for b in names)] for a in names]
    games = held["rows"][0]["n"]
    seats = "in either seat" if players == 2 else "as one of three, in every seat, beside two of the partner"
    about = f"Mean score of the row's agent {seats}; {games} games a seating; self-play in bold."
    outside = {a: float(np.mean([mean(a, b) for b in names if b != a])) for a in names} if len(names) > 1 else {}
    order = ", ".join(f"{a} {v:.1f}" for a, v in sorted(outside.items(), key=lambda x: -x[1]))
    return [
        f"## Cross-play, {players} players", "", about, "", *table(["", *names], rows),
        f"With all others on average: {order}.", "",
    ]  # fmt: skip


def searched(found: Found) -> list[str]:
    if not found.search:
        return []
    rows = [
        [
            r["agent"],
            r["partner"],
            r["players"],
            f"{r['mean']:.2f} ± {1.96 * (r['sd'] or 0) / r['n'] ** 0.5:.2f}",
            r["n"],
        ]
        for r in found.search
    ]
    return ["## Search", "", *table(["agent", "partner", "players", "mean score", "games"], rows)]


def table3(found: Found) -> list[str]:
    if not found.table3:
        return []
    rows = [[r["agent"], *(number(r.get(c), 3) for c in TABLE3)] for r in found.table3]
    for agent, values in PUBLISHED_TABLE3.items():
        printed = dict(zip(TABLE3_COLUMNS, values, strict=True))
        rows.append([f"*{agent}, published*", *(printed.get(c, "–") for c in TABLE3)])
    about = "The objective metrics of the metrics paper's Table 3 for these agents as one pool, points kept after the "
    about += "third bomb. All but self-play depend on the pool, which is another one in the published rows."
    return ["## As rows of the metrics paper's Table 3", "", about, "", *table(["agent", *TABLE3], rows)]


def table5(found: Found) -> list[str]:
    """Scores with the clones of people that we have, beside the published ones with the hidden proxies."""
    lines: list[str] = []
    short = {"BR-BC": "br_bc", "FCP": "fcp", "OP": "op", "HDR-IPPO": "hdr", "IPPO": "ippo", "BC": "bc"}
    for players, published in PUBLISHED_TABLE5.items():
        met = [(method_of(a), method_of(b), mean) for a, b, mean in pairs(found, players) if a != b]
        with_clones = [(a.removesuffix("_ff"), mean) for a, b, mean in met if b in ("bc", "proxy")]
        if not with_clones:
            continue
        rows = []
        for method, theirs in published.items():
            mine = [mean for a, mean in with_clones if a == short.get(method)]
            rows.append([method, number(float(np.mean(mine))) if mine else "–", *theirs])
        head = ["method", "mean here", "published mean", "published median", "published cross-entropy"]
        lines += [f"### {players} players", "", *table(head, rows)]
    if not lines:
        return []
    about = (
        "Published: 1,000 games with two hidden proxies trained on 101,096 (two players) or 46,525 games of people. "
    )
    about += (
        "Here: with the clones of this page, which learnt from about two thousand games of people with bots and are "
    )
    about += "much weaker partners. The columns tell what was measured; they are not to be compared number by number."
    return ["## As rows of the challenge's Table 5", "", about, "", *lines]


def page(found: Found) -> str:
    head = [
        "# Learning in Hanabi", "",
        "Clones of people, HDR-IPPO and the learned baselines of Hanabi, trained here within minutes on one GPU or two "
        "CPU cores, beside what the papers trained for days. This page is written by "
        "`python studies/hanabi_learning.py` from `benchmarks/hanabi_learning/results`; "
        "[the guide](../guide/hanabi_learning.md) tells what each method is.", "",
    ]  # fmt: skip
    if not found.stages and not found.crossplay and not found.evaluation:
        return "\n".join([*head, "Nothing has been trained yet.", ""])
    parts = [budgets(found), targets(found), clones(found)]
    parts += [part(found, players) for players in (2, 3) for part in (evaluated, crossplay)]
    parts += [searched(found)]
    parts += [metric_rewards(found), table3(found), table5(found)]
    said = findings(found)
    words = ["## What it says", "", *said, ""] if said else []
    return "\n".join([*head, *words, *(line for part in parts for line in part)]).rstrip() + "\n"


def measure(agents: list[str], episodes: int) -> dict[str, Any]:
    """The pool's rows of Table 3."""
    sys.path.insert(0, str(ROOT / "benchmarks" / "hanabi_learning"))
    from crossplay import named  # type: ignore[import-not-found]

    import interplay
    from interplay.agents.api import Agent
    from interplay.metrics.hanabi.pool import wide

    game = interplay.make("hanabi/2p", bomb="keep")
    pool = []
    for one in map(named, agents):
        mind = one.mind
        if hasattr(mind, "trained_for"):  # the same game but for what becomes of points after the third bomb
            from interplay.agents.neural import NeuralPolicy

            assert isinstance(mind, NeuralPolicy)
            mind = NeuralPolicy(mind.core, mind.reads, greedy=bool(mind.greedy))
        pool.append(Agent(one.name, mind, dict(one.config)))
    games = interplay.crossplay(game, pool, episodes=episodes, seed=0)
    rows = list(wide(interplay.measure(games, ["hanabi/pool"])))
    return {"kind": "table3", "episodes": episodes, "rows": [dict(row) for row in rows]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", nargs="+", metavar="NAME=PATH", help="play this pool and measure it first")
    parser.add_argument("--episodes", type=int, default=25, help="games of each seating of each pair, to be measured")
    parser.add_argument("--results", default=str(RESULTS))
    parser.add_argument("--page", default=str(PAGE))
    given = parser.parse_args()
    if given.measure:
        found = measure(given.measure, given.episodes)
        (Path(given.results) / "table3.json").write_text(json.dumps(found, indent=1) + "\n")
    Path(given.page).write_text(page(load(Path(given.results))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
