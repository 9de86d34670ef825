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
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "hanabi_learning" / "results"
PAGE = ROOT / "docs" / "results" / "hanabi_learning.md"
WORDS = ROOT / "studies" / "hanabi_learning_words.md"


class Published(NamedTuple):
    """What a paper did under the same name."""

    method: str
    steps: str  # of training, as the paper has them
    number: float | None  # the same as a number, where it is one of environment steps
    score: str  # with itself
    proxies: dict[int, str]  # players -> mean score with the hidden human proxies
    source: str


METHODS: dict[str, Published] = {  # the part of a stage's name before its number of players
    "bc": Published("BC", "50 or 70 epochs, 1,000 games", None, "–", {2: "2.12", 3: "3.31"}, "AH2AC2"),
    "hdr": Published("HDR-IPPO", "1e10", 1e10, "9.24 / 7.52 (file names)", {2: "12.76", 3: "14.03"}, "AH2AC2"),
    "ippo_ff": Published("IPPO", "1e10", 1e10, "24.18; 15.78 at 1e9", {2: "10.16", 3: "6.34"}, "AH2AC2, JaxMARL"),
    "ippo_rnn": Published("IPPO, recurrent", "1e9", 1e9, "18.33 at 1e9 (S5)", {}, "JaxMARL"),
    "entropy": Published("high-entropy IPPO", "1e10", 1e10, "24.48 / 24.66", {}, "Forkel 2025"),
    "op": Published("Other-Play", "–", None, "–", {2: "13.91", 3: "12.87"}, "AH2AC2"),
    "br_bc": Published("BR-BC", "1e10", 1e10, "–", {2: "19.41", 3: "11.89"}, "AH2AC2"),
    "fcp_population": Published("FCP's population", "36 seeds x 1e10", 1e10, "–", {}, "AH2AC2"),
    "fcp": Published("FCP", "1e10", 1e10, "–", {2: "14.01", 3: "11.55"}, "AH2AC2"),
    "obl1": Published("OBL-1, analytic belief", "1,500 epochs of Q-learning", None, "21.27 (OBL-1)", {}, "Hu 2021"),
    "obl_belief": Published("the belief of OBL-2", "200 epochs", None, "–", {}, "Hu 2021"),
    "obl2": Published("OBL-2, belief learnt", "1,500 epochs of Q-learning", None, "23.43 (OBL-2)", {}, "Hu 2021"),
    "anyplay": Published("Any-Play", "500 epochs of Q-learning", None, "23.13 (with SAD, Aux)", {}, "Lucas 2022"),
    "metric_rewards": Published("metrics as reward", "–", None, "–", {}, "–"),
}
PUBLISHED_TABLE5 = {  # players: method -> (mean, median, cross-entropy)
    2: {
        "OBL (L4)": ("21.04", "22", "1.33"),
        "BR-BC": ("19.41", "20", "10.82"),
        "FCP": ("14.01", "16", "3.52"),
        "OP": ("13.91", "19", "7.81"),
        "HDR-IPPO": ("12.76", "15", "0.96"),
        "IPPO": ("10.16", "14", "12.60"),
        "BC": ("2.12", "0", "0.86"),
        "human proxies": ("22.76", "23", "0.54"),
    },
    3: {
        "HDR-IPPO": ("14.03", "16", "0.80"),
        "OP": ("12.87", "18", "6.40"),
        "BR-BC": ("11.89", "12", "29.89"),
        "FCP": ("11.55", "6", "5.97"),
        "IPPO": ("6.34", "0", "8.60"),
        "BC": ("3.31", "0", "0.70"),
        "human proxies": ("20.86", "21", "0.62"),
    },
}
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


class Found(NamedTuple):
    stages: dict[str, dict[str, Any]]
    evaluation: dict[int, dict[str, Any]]  # by players: what evaluate.py wrote
    crossplay: dict[int, dict[str, Any]]  # by players
    search: list[dict[str, Any]]
    table3: list[dict[str, Any]]


def load(folder: Path = RESULTS) -> Found:
    """All files of the folder, told apart by what they hold; of a stage that is in several, the one with most steps."""
    stages: dict[str, dict[str, Any]] = {}
    crossplay: dict[int, dict[str, Any]] = {}
    evaluation: dict[int, dict[str, Any]] = {}
    search, table3 = [], []
    for path in sorted(folder.glob("*.json")):
        held = json.loads(path.read_text())
        if isinstance(held, dict) and held.get("kind") == "crossplay":
            before = crossplay.get(held["players"])
            if before is None or len(held["agents"]) > len(before["agents"]):
                crossplay[held["players"]] = held
            search += [row | {"players": held["players"]} for row in held["search"]]
        elif isinstance(held, dict) and held.get("kind") == "table3":
            table3 = held["rows"]
        elif isinstance(held, dict) and "self_play" in held:
            evaluation[int(held["game"].split("/")[1][0])] = held
        elif isinstance(held, dict):
            for name, told in held.items():
                whole = isinstance(told, dict) and told.get("curve") and "config" in told
                if whole and (name not in stages or trained_steps(told) > trained_steps(stages[name])):
                    stages[name] = told
    return Found(stages, evaluation, crossplay, search, table3)


def trained_steps(told: dict[str, Any]) -> float:
    return float(told["curve"][-1].get("steps") or 0)


def split(stage: str) -> tuple[str, int | None]:
    """A stage's method and number of players, from a name such as br_bc_2p."""
    method, _, players = stage.rpartition("_")
    if players.endswith("p") and players[:-1].isdigit():
        return method, int(players[:-1])
    return stage, None


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
        steps = trained_steps(told)
        share = f"1/{theirs.number / steps:,.0f}" if theirs and theirs.number and steps else "–"
        here = f"{steps:.2g}" if steps else f"{last['update']} epochs"
        speeds = [line["steps_per_s"] for line in told["curve"] if line.get("steps_per_s")]
        speed = (
            round(float(np.median(speeds))) if speeds else None
        )  # the first line compiles, the last one hardly waits
        rows.append([
            name, config.get("runs", 1), here, theirs.steps if theirs else "–", share,
            f"{speed:,}" if speed and steps else "–", number(told.get("wall_s"), 0),
        ])  # fmt: skip
    head = ["stage", "runs", "steps of each run", "published", "share", "steps/s (all runs)", "seconds"]
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


def metric_rewards(found: Found) -> list[str]:
    told = next((t for n, t in found.stages.items() if split(n)[0] == "metric_rewards"), None)
    if told is None:
        return []
    options, last = told["config"]["algorithm"]["options"], told["curve"][-1]
    names = [name for name in options["variants"] for _ in range(options.get("seeds", 1))]
    columns = ("returns", "g1s", "g2s", "g3s", "ad_entropys", "ard_entropys", "ics")
    rows = []
    for variant, paid in options["variants"].items():
        mine = [i for i, name in enumerate(names) if name == variant]
        prices = ", ".join(f"{k} {v:+g}" for k, v in paid.items()) or "–"
        cells = []
        for column in columns:
            values = [last[column][i] for i in mine if last.get(column) and last[column][i] is not None]
            spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
            cells.append(f"{np.mean(values):.3f}{spread}" if values else "–")
        rows.append([variant, prices, *cells])
    head = ["variant", "paid", "score", "g1", "g2", "g3", "AD-entropy", "ARD-entropy", "IC"]
    about = (
        f"{trained_steps(told):.2g} steps of self-play each, {options.get('seeds', 1)} seeds; mean and spread over "
        "seeds of the last log line. g1 and g2 are the shares of turns with a dominated move, g3 with a dominant one."
    )
    return ["## Metrics as reward", "", about, "", *table(head, rows)]


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
    about = "The objective metrics of the metrics paper's Table 3 for these agents as one pool, points kept after the "
    about += (
        "third bomb. All but self-play depend on the pool; see [the bots' table](hanabi_pool.md) for the published."
    )
    return ["## As rows of the metrics paper's Table 3", "", about, "", *table(["agent", *TABLE3], rows)]


def method_of(name: str) -> str:
    """br_bc of br_bc-1, br_bc+ and br_bc_2p/0."""
    method = split(name.split("/")[0])[0] if "/" in name else name
    return method.rstrip("+0123456789-")


def pairs(found: Found, players: int) -> list[tuple[str, str, float]]:
    """Agent, partner and mean score, from either script."""
    if players in found.crossplay:
        return [(r["agent"], r["partner"], r["mean"]) for r in found.crossplay[players]["rows"]]
    crossed = found.evaluation.get(players, {}).get("cross_play")
    if not crossed:
        return []
    names = crossed["agents"]
    return [(a, b, crossed["mean"][i][j]) for i, a in enumerate(names) for j, b in enumerate(names)]


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
        "Clones of people, HDR-IPPO and the learned baselines of Hanabi, trained here within minutes on one GPU, "
        "beside what the papers trained for days. This page is written by `python studies/hanabi_learning.py` from "
        "`benchmarks/hanabi_learning/results`; [the guide](../guide/hanabi_learning.md) tells what each method is.", "",
    ]  # fmt: skip
    if not found.stages and not found.crossplay and not found.evaluation:
        return "\n".join([*head, "Nothing has been trained yet.", ""])
    parts = [budgets(found), targets(found)]
    parts += [part(found, players) for players in (2, 3) for part in (evaluated, crossplay)]
    parts += [searched(found)]
    parts += [metric_rewards(found), table3(found), table5(found)]
    words = [*WORDS.read_text().rstrip().splitlines(), ""] if WORDS.exists() else []
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
