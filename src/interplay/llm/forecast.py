"""What a run will use, before it is paid for: calls, tokens and cost of the episodes that are left, by model."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.agents.llm.chat import Answer, ChatRequest, Model, estimate_tokens
from interplay.agents.llm.limits import Prices
from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.scripted.reference import Reference
from interplay.agents.llm.scripted.simple import Default
from interplay.games.collab_kitchen.game import Kitchen
from interplay.llm.game_plan import GamePlan
from interplay.llm.plan import RunPlan
from interplay.llm.run import episode_key, played_keys
from interplay.rollout.dialogue_runner import DialogueJob, play_jobs
from interplay.table import Row, Table
from interplay.traces import TraceSet

ANSWER_TOKENS = 200  # assumed of an answer that nobody has written yet; thinking is added in full

TITLE = (
    "Forecast of the episodes that are left. played: by the episodes that the folder holds; stand-in: prompts of one "
    f"episode of each kind, played by a script that makes no mistakes, and {ANSWER_TOKENS} tokens an answer. A model "
    "that has to be corrected, or needs longer, uses more"
)


@dataclass
class _Use:
    """Calls and tokens of one model."""

    calls: float = 0
    tokens_in: float = 0
    tokens_out: float = 0

    def add(self, other: _Use, times: float = 1) -> None:
        self.calls += times * other.calls
        self.tokens_in += times * other.tokens_in
        self.tokens_out += times * other.tokens_out


@dataclass
class _StandIn:
    """A script that answers for a model, and counts what the model would have read and written."""

    name: str
    script: Model
    use: _Use = field(default_factory=_Use)

    async def chat(self, request: ChatRequest) -> Answer:
        answer = await self.script.chat(request)
        written = max(ANSWER_TOKENS, estimate_tokens(answer.text)) + request.reasoning_tokens
        self.use.add(_Use(1, estimate_tokens(request.text), written))
        return answer


def forecast(
    plan: RunPlan | GamePlan, out: str | os.PathLike[str] | None = None, prices: Prices | None = None
) -> Table:
    """Return what a plan will use, a row per model and one for all of them.

    Args:
        plan: The plan.
        out: Its folder: what is played there is not played again, and tells what the rest will use.
        prices: Prices; the cost of a model without one is null.
    """
    folder = Path(out) if out is not None else None
    traces = TraceSet.open(folder) if folder is not None and (folder / "manifest.json").exists() else None
    names = _model_names(plan)
    done = played_keys(traces) if traces is not None else set()
    stand_ins = [_StandIn(name, _script(plan)) for name in names]
    jobs = list(plan.jobs(_pool(stand_ins)))
    left = [job for job in jobs if episode_key(job) not in done]
    measured = _played(traces) if traces is not None else {}
    expected: dict[str, _Use] = {name: _Use() for name in names}
    bases: dict[str, set[str]] = {name: set() for name in names}
    missing: dict[tuple, list[DialogueJob]] = {}
    for job in left:
        kind = _kind(job)
        if kind in measured:
            for name, use in measured[kind].items():
                if name in expected:
                    expected[name].add(use)
                    bases[name].add("played")
        else:
            missing.setdefault(kind, []).append(job)
    for jobs_of_kind in missing.values():
        for stand_in in stand_ins:
            stand_in.use = _Use()
        play_jobs(jobs_of_kind[:1], lambda job, episode: True)
        for stand_in in stand_ins:
            if stand_in.use.calls:
                expected[stand_in.name].add(stand_in.use, len(jobs_of_kind))
                bases[stand_in.name].add("stand-in")
    return Table.of(_rows(expected, bases, len(left), prices or Prices()), TITLE)


def _rows(expected: dict[str, _Use], bases: dict[str, set[str]], episodes: int, prices: Prices) -> list[Row]:
    rows = [
        {
            "model": name,
            "episodes": episodes,
            "calls": round(use.calls),
            "tokens_in": round(use.tokens_in),
            "tokens_out": round(use.tokens_out),
            "cost": prices.cost(name, use.tokens_in, use.tokens_out),
            "prices_of": prices.date,
            "basis": " and ".join(sorted(bases[name])) or None,
        }
        for name, use in expected.items()
    ]
    if len(rows) < 2:
        return rows
    costs = [row["cost"] for row in rows]
    whole = {name: sum(row[name] for row in rows) for name in ("calls", "tokens_in", "tokens_out")}
    cost = None if any(c is None for c in costs) else sum(costs)
    return [
        *rows,
        {"model": "all", "episodes": episodes, **whole, "cost": cost, "prices_of": prices.date, "basis": None},
    ]


def _model_names(plan: RunPlan | GamePlan) -> list[str]:
    """The models that a plan asks, scripts left out."""
    named = (*plan.chefs, *plan.assistants) if isinstance(plan, RunPlan) else plan.agents
    told = (
        name.removeprefix("llm:").partition("?")[0]
        for name in named
        if name.startswith("llm:") or (isinstance(plan, RunPlan) and "/" in name)
    )
    return [name for name in dict.fromkeys(told) if not name.startswith("scripted/")]


def _script(plan: RunPlan | GamePlan) -> Model:
    kitchen = isinstance(plan, RunPlan) or plan.game.startswith("kitchen/")
    return Reference() if kitchen else Default()


def _pool(stand_ins: Sequence[_StandIn]) -> ModelPool:
    pool = ModelPool()
    for stand_in in stand_ins:
        pool.add(stand_in)
    return pool


def _kind(job: DialogueJob) -> tuple:
    """What episodes use alike: the game, its level or dish, and who plays."""
    game = job.game
    about = game.dish.level if isinstance(game, Kitchen) else tuple(sorted(dict(game.options).items()))
    return game.id, str(about), tuple(identity.name for identity in job.team.identities)


def _played(traces: TraceSet) -> dict[tuple, dict[str, _Use]]:
    """Mean use of an episode of each kind, by model."""
    from interplay.llm.tables import level_of

    found: dict[tuple, dict[str, _Use]] = {}
    count: Counter[tuple] = Counter()
    for episode in traces:
        kitchen = episode.game_id.startswith("kitchen/")
        about = level_of(episode.options) if kitchen else tuple(sorted(dict(episode.options).items()))
        kind = episode.game_id, str(about), tuple(identity.name for identity in episode.agents)
        count[kind] += 1
        for name, use in _uses(e.payload for e in episode.events if e.kind == "call"):
            found.setdefault(kind, {}).setdefault(name, _Use()).add(use)
    for kind, uses in found.items():
        for name, use in uses.items():
            mean = _Use()
            mean.add(use, 1 / count[kind])
            uses[name] = mean
    return found


def _uses(calls: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, _Use]]:
    for call in calls:
        read, written = (
            call[name] if call[name] is not None else estimate_tokens(call[text])
            for name, text in (("tokens_in", "prompt"), ("tokens_out", "answer"))
        )
        yield call["model"], _Use(1, read, written)
