"""The tables and figures of the paper on language-model teams, from a folder of runs, with the printed values beside.

Source of the printed values: *Beyond Task Success: Evaluating Cooperation in LLM-Based Multi Agent Systems*, Tables 2
to 5 and section 5. A study is a folder: `original/FRAMEWORK` are trace sets of every directed pairing, `solo/nrc/MODEL`
the team and each role alone. `play_study` fills it and goes on where it stopped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from interplay.agents.llm.limits import Usage
from interplay.agents.llm.settings import LLMSettings
from interplay.config import toml_beside
from interplay.errors import InterplayError
from interplay.llm import RunPlan, Service, run, solo
from interplay.llm.solo import IDLE
from interplay.llm.tables import episode_row
from interplay.metrics.communication.records import CATEGORIES
from interplay.metrics.model_calls import fallback_share
from interplay.reports.communication import CommunicationAudit, audit
from interplay.reports.figures import Point, heat_map, scatter
from interplay.rollout.episode import Episode
from interplay.table import Row, Table
from interplay.traces import TraceSet

SOURCE = "Beyond Task Success, Tables 2 to 5 and section 5"
FRAMEWORKS: Mapping[str, str] = {"baseline": "Baseline", "proagent": "Pro-Agent", "belief": "AToM"}
LAYOUT, OPEN_LAYOUT = "original", "nrc"
PAPER_WINDOW, FIXED_WINDOW = "0.15 x horizon", "20 steps"

PRINTED: Mapping[str, Any] = toml_beside(__file__)


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """What a study plays; by default all that the paper played, for the models named."""

    models: tuple[str, ...]
    frameworks: tuple[str, ...] = tuple(FRAMEWORKS)
    levels: tuple[int, ...] = (1, 2, 3)
    dishes: tuple[str, ...] = ()  # in place of levels
    episodes: int = 10
    horizon: int | None = None
    seed: int = 0
    settings: LLMSettings = field(default_factory=LLMSettings)

    def __post_init__(self):
        unknown = [name for name in self.frameworks if name not in FRAMEWORKS]
        if unknown:
            raise InterplayError(f"framework {unknown[0]!r}: the paper has {', '.join(FRAMEWORKS)}")

    def pairings(self, framework: str) -> RunPlan:
        """Return the plan of every directed pairing under a framework."""
        return RunPlan(
            chefs=self.models,
            assistants=self.models,
            levels=() if self.dishes else self.levels,
            dishes=self.dishes,
            layout=LAYOUT,
            episodes=self.episodes,
            horizon=self.horizon,
            seed=self.seed,
            settings=replace(self.settings, scaffold=framework),
        )


def play_study(
    plan: StudyPlan,
    out: str | os.PathLike[str],
    service: Service | None = None,
    progress: Callable[[int, int, Usage], None] | None = None,
    *,
    alone: bool = True,
) -> str | None:
    """Play what a study's folder does not yet hold: every pairing by framework, then each role alone at level 1.

    Returns:
        Why it stopped before its end; None if it did not. The same call goes on.
    """
    folder = Path(out)
    for framework in plan.frameworks:
        finished = run(plan.pairings(framework), folder / LAYOUT / framework, service=service, progress=progress)
        if finished.stopped:
            return finished.stopped
    if alone:
        base = replace(plan.pairings("baseline"), levels=(1,), dishes=(), horizon=None)
        solo(plan.models, folder / "solo", layouts=(OPEN_LAYOUT,), plan=base, service=service, progress=progress)
    return None


def model_name(agent: str) -> str:
    """Return a model's own name of an agent's: qwen2.5 of llm:local/qwen2.5[belief,max_tokens=160]."""
    return agent.removeprefix("llm:").partition("[")[0].rpartition("/")[2]


@dataclass(frozen=True)
class PaperStudy:
    """A study's folder, opened: episodes and their audits by framework."""

    folder: Path

    def __post_init__(self):
        if not self.frameworks and not self.solo_folders:
            raise InterplayError(
                f"{self.folder} holds no study: `interplay paper llm play --models ... --out {self.folder}` makes one"
            )

    @cached_property
    def frameworks(self) -> dict[str, Path]:
        """The trace sets of pairings, by framework."""
        folders = {name: self.folder / LAYOUT / name for name in FRAMEWORKS}
        return {name: path for name, path in folders.items() if _has_episodes(path)}

    @cached_property
    def solo_folders(self) -> list[Path]:
        """The folders of models that were tried alone."""
        folder = self.folder / "solo" / OPEN_LAYOUT
        return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    @cached_property
    def audits(self) -> dict[str, CommunicationAudit]:
        """The audit of each framework's talk."""
        return {name: audit(TraceSet.open(path)) for name, path in self.frameworks.items()}

    @cached_property
    def episodes(self) -> list[Row]:
        """One row an episode: framework, chef, assistant, level, and the team's numbers of run and audit."""
        rows = []
        for framework, path in self.frameworks.items():
            measured = _team_values(self.audits[framework])
            for number, episode in enumerate(TraceSet.open(path)):
                row = episode_row(episode)
                names = {"chef": model_name(str(row["chef"])), "assistant": model_name(str(row["assistant"]))}
                rows.append(row | names | {"framework": FRAMEWORKS[framework]} | measured.get(number, {}))
        return rows


def _has_episodes(path: Path) -> bool:
    return (path / "manifest.json").exists() and len(TraceSet.open(path).summary()) > 0


def _team_values(audited: CommunicationAudit) -> dict[int, Row]:
    """The team's audited numbers by the number of the episode in its set."""
    numbers = {name: at for at, name in enumerate(dict.fromkeys(row["episode"] for row in audited.episodes))}
    values: dict[int, Row] = {}
    for row in audited.episodes:
        if row["seat"] is not None:
            continue
        name = f"{row['metric']}_20" if row["window"] == FIXED_WINDOW else row["metric"]
        if row["window"] in (None, audited.settings.window_name, FIXED_WINDOW):
            values.setdefault(numbers[row["episode"]], {}).setdefault(name, row["value"])
    return values


# ------------------------------------------------------------------ tables
def table2(study: PaperStudy) -> Table:
    """Team and solo play where cooperation is not required: success, steps of a team, share feasible alone."""
    rows = []
    for folder in study.solo_folders:
        parts = {name: _played(folder / name) for name in ("team", "chef", "assistant")}
        if not parts["team"]:
            continue
        able = {r["dish"] for name in ("chef", "assistant") for r in parts[name] if r["success"]}
        tried = {r["dish"] for name in ("chef", "assistant") for r in parts[name]}
        rows.append(
            {
                "model": model_name(str(next(r["chef"] for r in parts["team"]))),
                "source": "ours",
                "setting": "NRC",
                "episodes": len(parts["team"]),
                "success_percent": 100 * mean(r["success"] for r in parts["team"]),
                "steps": mean(r["steps"] for r in parts["team"]),
                "solo_episodes": len(parts["chef"]) + len(parts["assistant"]),
                "solo_feasible_percent": 100 * len(able) / len(tried) if tried else None,
            }
        )
    for model, (success, steps, alone) in PRINTED["table2"].items():
        rows.append(
            {"model": model, "source": "printed", "setting": "NRC", "episodes": 10, "success_percent": success,
             "steps": steps, "solo_episodes": None, "solo_feasible_percent": alone}
        )  # fmt: skip
    return Table.of(rows, "Table 2: where cooperation is not required. Steps are those of all episodes")


def _played(path: Path) -> list[Row]:
    if not (path / "manifest.json").exists():
        return []
    rows = [episode_row(episode) for episode in TraceSet.open(path)]
    return [r for r in rows if r["chef"] != IDLE or r["assistant"] != IDLE]


def table3(study: PaperStudy) -> Table:
    """Success, ADR and tokens of an episode of each model with itself, by framework."""
    rows = []
    for (model, framework), group in _groups(_self_play(study), "chef", "framework"):
        rows.append(_team_row(model, framework, group) | {"tokens_per_episode": _mean(group, "tokens")})
    for model, framework, (success, adr, tokens) in _nested(PRINTED["table3"]):
        rows.append(
            {"model": model, "framework": framework, "source": "printed", "episodes": 30, "success": success,
             "adr": adr, "tokens_per_episode": tokens}
        )  # fmt: skip
    return Table.of(rows, "Table 3: frameworks of partner modelling; tokens read and written, by both cooks")


def table4(study: PaperStudy) -> Table:
    """Success and ADR of each model with itself, by framework and level."""
    rows = [
        _team_row(model, framework, group) | {"level": level}
        for (model, framework, level), group in _groups(_self_play(study), "chef", "framework", "level")
    ]
    for model, framework, levels in _nested(PRINTED["table4"]):
        for level, (success, adr) in enumerate(levels, 1):
            rows.append(
                {"model": model, "framework": framework, "source": "printed", "episodes": 10, "success": success,
                 "adr": adr, "level": level}
            )  # fmt: skip
    columns = ["model", "framework", "level", "source", "episodes", "success", "adr"]
    return Table.of(rows, "Table 4: by level", columns=columns)


def table5(study: PaperStudy) -> Table:
    """ADR by level with the level's own window and with 20 steps, as means over directed pairings."""
    rows = []
    for (level,), group in _groups(study.episodes, "level"):
        pairings = [part for _, part in _groups(group, "chef", "assistant", "framework")]
        windows = {name: [v for p in pairings if (v := _mean(p, name)) is not None] for name in ("adr", "adr_20")}
        rows.append({"level": level, "source": "ours", "pairings": len(pairings)} | _means(windows))
    for level, (normalised, fixed) in PRINTED["table5"].items():
        rows.append({"level": int(level), "source": "printed", "pairings": 9, "adr": normalised, "adr_20": fixed})
    columns = ["level", "source", "pairings", "adr", "adr_sd", "adr_20", "adr_20_sd"]
    return Table.of(rows, "Table 5: the level's window (.15 of the horizon) and 20 steps", columns=columns)


def _means(values: Mapping[str, Sequence[float]]) -> Row:
    row: Row = {}
    for name, of_pairings in values.items():
        row[name] = mean(of_pairings) if of_pairings else None
        row[f"{name}_sd"] = stdev(of_pairings) if len(of_pairings) > 1 else None
    return row


def hanabi_models(folders: Sequence[str | os.PathLike[str]]) -> Table:
    """Games of language models in Hanabi beside the challenge's printed scores of DeepSeek-R1.

    The printed games were played with human proxies, ours by whoever sits in the traces.
    """
    rows: list[Row] = []
    for folder in folders:
        by_team: dict[tuple[str, str], list[Episode]] = {}
        for episode in TraceSet.open(Path(folder)):
            team = " | ".join(model_name(agent.name) for agent in episode.agents)
            by_team.setdefault((episode.game_id, team), []).append(episode)
        for (game, team), games in by_team.items():
            ends = [e.payload["reason"] for g in games for e in g.events if e.kind == "end"]
            rows.append(
                {"source": "ours", "players": int(game.removeprefix("hanabi/")[0]), "agent": team, "games": len(games)}
                | {"mean": mean(g.score for g in games), "median": median(g.score for g in games)}
                | {"moves": mean(g.length for g in games), "cut_by_limit": ends.count("limit")}
                | {"fallback": fallback_share(games)}
            )
    for players, agent, (average, middle) in _nested(PRINTED["hanabi"]):
        rows.append({"source": "printed", "players": int(players), "agent": agent, "mean": average, "median": middle})
    return Table.of(rows, "Language models in Hanabi; fallback: share of moves that the model did not make")


# ------------------------------------------------------------------ figures
def figure2(study: PaperStudy) -> tuple[Table, str]:
    """What the verifier refuses in an episode, by directed pairing without scaffold: a table and a picture."""
    rows = [
        {"chef": chef, "assistant": assistant, "source": "ours", "episodes": len(group),
         "refused_per_episode": _mean(group, "refused")}
        for (chef, assistant), group in _groups(_baseline(study), "chef", "assistant")
    ]  # fmt: skip
    picture = _matrix(rows)
    for chef, assistant, errors in _nested(PRINTED["figure2"]):
        rows.append(
            {"chef": chef, "assistant": assistant, "source": "printed", "episodes": None, "refused_per_episode": errors}
        )
    return Table.of(rows, "Figure 2: verifier errors of an episode, by directed pairing"), picture


def _matrix(rows: Sequence[Row]) -> str:
    names = sorted({str(row[seat]) for row in rows for seat in ("chef", "assistant")})
    known = {(row["chef"], row["assistant"]): row["refused_per_episode"] for row in rows}
    values = [[known.get((chef, assistant)) for assistant in names] for chef in names]
    return heat_map(names, names, values, title="Verifier errors", row_title="chef", column_title="assistant")


def figure3(study: PaperStudy) -> tuple[Table, Table, str]:
    """Outcomes of requests by level; success, waste and uptake by pairing; a picture of the latter."""
    judged = [row | {"framework": FRAMEWORKS[name]} for name, one in study.audits.items() for row in one.judged]
    outcomes: list[Row] = []
    for (level,), group in _groups(judged, "level"):
        shares = {category: sum(r["category"] == category for r in group) / len(group) for category in CATEGORIES}
        outcomes.append({"level": level, "source": "ours", "judged": len(group)} | shares)
    redundant, ineffective = PRINTED["figure3"].values()
    outcomes.append(
        {"level": "all", "source": "printed", "judged": None, "redundant": redundant, "ineffective": ineffective}
    )
    pairings: list[Row] = [
        {"chef": chef, "assistant": assistant, "framework": framework, "episodes": len(group)}
        | {name: _mean(group, name) for name in ("success", "waste", "uptake")}
        for (chef, assistant, framework), group in _groups(study.episodes, "chef", "assistant", "framework")
    ]
    points = [
        Point(row["waste"], row["success"], f"{row['chef']} → {row['assistant']}", row["framework"])
        for row in pairings
        if row["waste"] is not None
    ]
    picture = scatter(points, title="Success and waste", x_title="waste", y_title="success") if points else ""
    columns = ["level", "source", "judged", *CATEGORIES]
    return (
        Table.of(
            outcomes, "Figure 3, left: what became of requests; printed: redundant, ineffective or delayed", columns
        ),
        Table.of(pairings, "Figure 3, right: success, waste and uptake by pairing"),
        picture,
    )


# ------------------------------------------------------------------ groups
def _self_play(study: PaperStudy) -> list[Row]:
    return [row for row in study.episodes if row["chef"] == row["assistant"]]


def _baseline(study: PaperStudy) -> list[Row]:
    return [row for row in study.episodes if row["framework"] == FRAMEWORKS["baseline"]]


def _groups(rows: Sequence[Row], *by: str) -> Iterator[tuple[tuple[Any, ...], list[Row]]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    yield from sorted(groups.items(), key=lambda item: tuple(map(str, item[0])))


def _nested(table: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    """Yield the entries of a printed table with both of their keys."""
    return ((one, other, value) for one, row in table.items() for other, value in row.items())


def _mean(rows: Sequence[Row], name: str) -> float | None:
    known = [row[name] for row in rows if row.get(name) is not None]
    return mean(known) if known else None


def _team_row(model: str, framework: str, group: Sequence[Row]) -> Row:
    values = {name: _mean(group, name) for name in ("success", "adr")}
    return {"model": model, "framework": framework, "source": "ours", "episodes": len(group)} | values
