"""Figures 2 to 6 and Tables 2, 3, 9, 10 and 11 of the paper as tables: ours, and what was published beside it.

The paper's figures print no numbers. Where a published value stands here, it is recomputed from the public results of
the repository (five layouts) with the right best responses, or printed in one of the paper's tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.hub.store import require
from interplay.metrics.brprox.ratios import Cells
from interplay.metrics.brprox.table import read_table
from interplay.papers.zsc import printed
from interplay.papers.zsc.data import (
    GREEDY,
    KINDS,
    METHODS,
    REFERENCES,
    RESULTS,
    LayoutResults,
    load,
    other_panels,
    published,
)
from interplay.papers.zsc.data import ratios_of as ratios
from interplay.partners.diversity import diversity
from interplay.partners.evaluate import PolicyStack, play_pairs
from interplay.partners.features import BehaviourFeatures, able
from interplay.partners.kdpp import rank
from interplay.partners.panel import Panel
from interplay.partners.panel_file import read_panel
from interplay.partners.proximity import headline
from interplay.partners.reward_space import reward_space
from interplay.partners.select import select
from interplay.partners.tables import behaviour
from interplay.stats import iqm, spearman
from interplay.stats.brprox.summary import summarise
from interplay.stats.ranks import ranks as average_ranks
from interplay.table import Row, Table

SEVERAL = tuple(layout for layout in REFERENCES if layout.endswith("_multi"))
ONE = tuple(layout for layout in REFERENCES if layout not in SEVERAL)
RANKED = ("hsp", "mep", "fcp", "cole", "sp")  # of the study with people
PANELS = {"generated": printed.GENERATED, "people": printed.PROXY, "self_play": printed.SELF_PLAY}


def figure2(layouts: Sequence[str], *, seed: int = 0) -> Table:
    """BR-Div of the subsets that BR-Div selects and of those that P-Div selects, by size.

    Higher is more diverse: log determinants of the features of the best responses.
    """
    rows: list[Row] = []
    for layout in layouts:
        panel = _panel(layout)
        sides = behaviour(panel)
        candidates = able(sides["br"], panel.provenance["config"]["least_return"])
        own = sides["p"].of(candidates.ids)
        most = min(rank(candidates.normalised()), rank(own.normalised()), 15)
        for size in range(2, most + 1):
            by_response = diversity(candidates, select(candidates, size, seed=seed).selected)
            by_partner = diversity(candidates, select(own, size, seed=seed).selected)
            rows.append({"layout": layout, "size": size, "by_br_div": by_response, "by_p_div": _finite(by_partner)})
    return Table.of(rows, "Figure 2b: diversity of the best responses to subsets selected by BR-Div and by P-Div")


def figure3(layout: str, *, episodes: int = 4, seed: int = 0) -> Table:
    """How partners of several kinds act, projected on the two principal components of all of them together.

    Events of episodes with oneself, by seat: clones of people, self-play agents, chefs, evaluation partners.
    """
    game = make(f"overcooked/{layout}")
    groups = {kind: _panel(layout, kind) for kind in ("generated", "people", "self_play", "chefs")}
    parts = [(kind, _own_events(game, panel, episodes, seed)) for kind, panel in groups.items() if panel is not None]
    values = np.concatenate([part.normalised() for _, part in parts])
    centred = values - values.mean(axis=0)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    places, rows, at = centred @ directions[:2].T, [], 0
    share = singular[:2] ** 2 / np.sum(singular**2)
    for kind, part in parts:
        for name, place in zip(part.ids, places[at : at + len(part.ids)], strict=True):
            rows.append({"layout": layout, "kind": kind, "partner": name, "first": place[0], "second": place[1]})
        at += len(part.ids)
    title = f"Figure 3: behaviour of partners; two components hold {share[0]:.0%} and {share[1]:.0%} of the variance"
    return Table.of(rows, title)


def spread_of(points: Table) -> Table:
    """Mean distance from the centre of each kind's points in Figure 3, and how many there are."""
    rows: list[Row] = []
    for (kind,), part in points.groups("kind").items():
        places = np.array([[r["first"], r["second"]] for r in part])
        distance = np.linalg.norm(places - places.mean(axis=0), axis=1)
        rows.append({"kind": kind, "partners": len(part), "spread": float(distance.mean())})
    return Table.of(rows, "Mean distance from the centre of a kind")


def br_prox_by_layout(layouts: Sequence[str], title: str) -> Table:
    """BR-Prox of every method and of the scripted chef, with 95 % intervals over seeds and partners."""
    rows: list[Row] = []
    for layout in layouts:
        layout_results = load(layout)
        public = published(layout)
        for method in (*METHODS, GREEDY):
            row = layout_results.baselines[method]
            values = public.get(method, [])
            rows.append(
                {
                    "layout": layout,
                    "method": METHODS.get(method, method),
                    "seeds": row["seeds"],
                    "dead": row.get("dead", 0),
                    "br_prox": row["br_prox"],
                    "low": row.get("br_prox_low"),
                    "high": row.get("br_prox_high"),
                    "published_low": min(values, default=None),
                    "published_high": max(values, default=None),
                }
            )
    return Table.of(rows, title)


def figure4(layouts: Sequence[str] = ONE) -> Table:
    """BR-Prox in the kitchens of one recipe."""
    return br_prox_by_layout(layouts, "Figure 4: BR-Prox; published: lowest and highest of the sizes of populations")


def figure5(layouts: Sequence[str] = SEVERAL) -> Table:
    """BR-Prox in the kitchens of several recipes."""
    return br_prox_by_layout(layouts, "Figure 5: BR-Prox with several recipes; published: of all sizes of populations")


def figure6(layouts: Sequence[str] = tuple(REFERENCES)) -> Table:
    """BR-Prox with expert and moderate partners, split by the median of two things: self-play, best-response return.

    A partner with preferences hardly scores with itself, so that its self-play return says little of its skill.
    """
    rows: list[Row] = []
    for layout in layouts:
        layout_results = load(layout)
        alive = _alive(layout_results)
        summary = summarise(alive, seed=0)
        flat = _self_play_says_nothing(alive)
        for method in (*layout_results.methods, GREEDY):
            row = headline(summary, method)
            rows.append(
                {"layout": layout, "method": METHODS.get(method, method)}
                | {name: row[f"br_prox_{name}"] for name in SKILLS}
                | {"partners_that_score_with_themselves": flat}
            )
    return Table.of(rows, "Figure 6: expert and moderate partners, by self-play and by best-response return")


SKILLS = ("expert", "moderate", "expert_by_response", "moderate_by_response")


def table2(layouts: Sequence[str] = printed.LAYOUTS) -> Table:
    """Ranks of five methods by kinds of evaluation partners, ours and printed, and Spearman's with people's ranks."""
    rows: list[Row] = []
    for layout in layouts:
        human = printed.human_ranks(layout)
        rows.append({"layout": layout, "evaluated_by": printed.HUMAN, "whose": "printed"} | dict(human))
        for panel, name in PANELS.items():
            theirs = dict(printed.printed_ranks(layout, name))
            own = _ranks(layout, panel)
            for whose, ranks in (("printed", theirs), ("ours", own)):
                if ranks:
                    alike = spearman([human[m] for m in RANKED], [ranks[m] for m in RANKED]).r
                    rows.append({"layout": layout, "evaluated_by": name, "whose": whose} | ranks | {"spearman": alike})
    return Table.of(rows, f"Table 2: ranks by evaluation partner. People's ranks: {printed.SOURCE}")


def table9(layouts: Sequence[str] = tuple(REFERENCES)) -> Table:
    """Per cent of layouts in which a method takes each rank: printed for three sizes, ours for one."""
    counts = {method: [0] * len(METHODS) for method in METHODS}
    for layout in layouts:
        methods = load(layout).methods
        order = sorted(methods, key=lambda m: -methods[m]["br_prox"])
        for place, method in enumerate(order):
            counts[method][place] += 1
    rows: list[Row] = []
    for row in printed.rank_shares():
        shares = {str(k + 1): float(row[str(k + 1)]) for k in range(len(METHODS))}
        ours = {str(k + 1): 100 * n / len(layouts) for k, n in enumerate(counts[row["algorithm"]])}
        rows += [
            {"method": METHODS[row["algorithm"]], "whose": w} | v for w, v in (("printed", shares), ("ours", ours))
        ]
    return Table.of(
        rows, "Table 9: per cent of layouts in which a method takes a rank; ours has one size of population"
    )


def table3(table: Path | None = None) -> Table:
    """BR-Prox in football: printed, and of a table of returns with best responses if there is one."""
    return _football_table(False, table)


def table10(table: Path | None = None) -> Table:
    """Goals in football: printed, and of a table of returns with best responses if there is one."""
    return _football_table(True, table)


def _football_table(goals: bool, table: Path | None) -> Table:
    ours = {} if table is None else _football(table, goals)
    rows = []
    for row in printed.football(goals):
        mine = ours.get(row["algorithm"], {})
        rows.append({f"printed_{k}" if k != "algorithm" else "method": v for k, v in row.items()} | mine)
    return Table.of(rows, printed.football(goals).title)


def table11(results: Path = RESULTS) -> Table:
    """E3T by its balance parameter: printed in football; ours in an Overcooked layout where it was trained."""
    rows: list[Row] = [{"whose": "printed, football"} | row for row in printed.balance()]
    for path in sorted(results.glob("*/returns_e3t_balance.csv")):
        summary = summarise(read_table(path), seed=0)
        for row in summary.summary:
            share = int(str(row["algorithm"]).rpartition("_")[2]) / 100  # e3t_05
            values = {
                "br_prox": row["honest_iqm"],
                "br_prox_low": row["honest_low"],
                "br_prox_high": row["honest_high"],
            }
            rows.append({"whose": f"ours, {path.parent.name}", "balance": share} | values)
    return Table.of(rows, "Table 11: E3T by its balance parameter (share of random actions of its partner)")


# --- helpers


def _panel(layout: str, name: str = "generated") -> Any:
    """A shipped panel; None where a layout has none of that name."""
    try:
        folder = require(f"overcooked/{layout}:{name}")
    except InterplayError:
        if name == "generated":
            raise
        return None
    return read_panel(folder, make(f"overcooked/{layout}"))


def _own_events(game: Game, panel: Panel, episodes: int, seed: int) -> BehaviourFeatures:
    """What each partner does in episodes with itself, by event and seat."""
    stack = PolicyStack.of_agents(game, list(panel.partners))
    pairs = np.stack([np.arange(len(stack))] * 2, axis=1)
    played = play_pairs(game, stack, stack, pairs, episodes=episodes, seed=seed)
    names = [name for name in reward_space(game).features if name in game.event_names]
    columns = [game.event_names.index(name) for name in names]
    counts = played.events[:, 0][..., columns]  # [pair, seat, event]
    values = counts.reshape(len(stack), -1).astype(float)
    labels = tuple(f"{name}@seat{seat}" for seat in range(game.num_seats) for name in names)
    return BehaviourFeatures(tuple(m.agent.name for m in panel.members), labels, played.returns.mean(axis=1), values)


def _alive(layout_results: LayoutResults) -> Cells:
    cells = read_table(RESULTS / layout_results.layout / "returns.csv")
    rows = [r for r in cells.table if (r["algorithm"], int(r["seed"])) not in layout_results.dead]
    return Cells(Table(cells.table.columns, rows), cells.best_responses, cells.notes)


def _self_play_says_nothing(cells: Cells) -> str:
    """Return how many partners score at all in self-play."""
    own = {(r["partner"], r["skill"]): r.get("self_play_return") for r in cells.table}
    known = [v for v in own.values() if v is not None]
    return f"{sum(v > 0 for v in known)} of {len(known)}"


def _ranks(layout: str, panel: str) -> dict[str, float]:
    """Our ranks of the five methods by a panel; empty where a layout has no such panel."""
    if panel == "generated":
        values = {m: load(layout).baselines[m]["br_prox"] for m in RANKED}
    else:
        rows = other_panels(layout).get(panel)
        if not rows or panel not in KINDS:
            return {}
        values = {m: float(iqm(ratios(rows, m))) for m in RANKED}
    ranks = average_ranks([values[m] for m in RANKED])
    return dict(zip(RANKED, (float(r) for r in ranks), strict=True))


def _football(path: Path, goals: bool) -> Mapping[str, Row]:
    cells = read_table(path)
    best: dict[str, Row] = {}
    for row in summarise(cells, seed=0).summary:
        who = (row["algorithm"], row["population"])
        own = [r["return"] for r in cells.table if (r["algorithm"], r["population"]) == who]
        value: Row = {"value": row["honest_iqm"], "low": row["honest_low"], "high": row["honest_high"]}
        if goals:
            value = {"value": float(np.mean(own))}
        if row["algorithm"] not in best or value["value"] > best[row["algorithm"]]["value"]:
            best[str(row["algorithm"])] = value | {"population": row["population"]}
    return best


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
