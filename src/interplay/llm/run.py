"""Play a plan into a folder. Episodes and answers are kept, nothing is asked twice, and a run can be resumed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from interplay.agents.llm.chat import OUTAGES
from interplay.agents.llm.limits import Limits, Prices, Usage
from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.response_cache import ResponseCache
from interplay.errors import InterplayError
from interplay.llm.game_plan import GamePlan
from interplay.llm.plan import RunPlan, job_key
from interplay.rollout.dialogue_runner import AT_ONCE, DialogueJob, play_jobs
from interplay.rollout.episode import Episode
from interplay.traces import TraceSet

JOURNAL = "calls.jsonl"
SET_ASIDE = "set-aside"
IN_A_ROW = 5  # episodes that ended because a model was not reached, after which a run stops


@dataclass(frozen=True)
class LLMRun:
    """The result of a run."""

    traces: TraceSet
    meter: Usage
    planned: int
    played: int  # in this session
    set_aside: int  # ended by an outage in this session
    stopped: str | None = None  # why it stopped before its end
    outage: str | None = None  # why the last episode was set aside


@dataclass(frozen=True, kw_only=True)
class Service:
    """How models are reached and what they may use."""

    limits: Limits = field(default_factory=Limits)
    prices: Prices = field(default_factory=Prices)
    base_urls: dict[str, str] = field(default_factory=dict)
    at_once: int = AT_ONCE  # episodes in flight, and calls in flight to one model
    timeout_s: float = 120.0
    retries: int = 4
    backoff_s: float = 1.0
    patience_s: float = 0.0  # go on trying an endpoint that fails for so long

    def __post_init__(self):
        for name, least in (("at_once", 1), ("retries", 0), ("patience_s", 0)):
            if getattr(self, name) < least:
                raise InterplayError(f"{name}: {getattr(self, name)}; at least {least}")
        if self.timeout_s <= 0:
            raise InterplayError(f"timeout_s: {self.timeout_s}; a call takes longer")

    def model_pool(self, journal: ResponseCache, *, offline: bool = False) -> ModelPool:
        """Return the models with these limits.

        Args:
            journal: The cache of answers.
            offline: Take answers from the cache alone.
        """
        names = ("at_once", "timeout_s", "retries", "backoff_s", "patience_s")
        endpoint = {name: getattr(self, name) for name in names}
        return ModelPool(
            cache=journal,
            prices=self.prices,
            limits=self.limits,
            offline=offline,
            ends_episodes=True,
            base_urls=dict(self.base_urls),
            endpoint=endpoint,
        )


def run(
    plan: RunPlan | GamePlan,
    out: str | os.PathLike[str] | None = None,
    *,
    service: Service | None = None,
    replay: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int, Usage], None] | None = None,
) -> LLMRun:
    """Play what a folder does not yet hold. `replay`: a run's folder whose answers are given again, offline.

    Without `out` the traces are kept in memory. Episodes that a model's outage cut short go to `set-aside` within
    the folder and are played again by the next run; their answers are in the journal and cost nothing twice.
    """
    folder = Path(out) if out is not None else None
    journal = _journal(folder, replay)
    pool = (service or Service()).model_pool(journal, offline=replay is not None)
    jobs = list(plan.jobs(pool))  # what is wrong with names and keys is told before anything is written
    prices = service.prices.described() if service and service.prices.table else None
    meta = plan.described() | ({"prices": prices} if prices else {})
    traces = TraceSet.in_memory(meta=meta) if folder is None else open_or_create(folder, meta)
    done = played_keys(traces)
    left = [job for job in jobs if episode_key(job) not in done]
    keeper = _EpisodeKeeper(traces, folder, len(jobs) - len(left), len(jobs), pool.usage, progress)
    try:
        play_jobs(left, keeper.ended, at_once=(service or Service()).at_once)
    finally:
        keeper.close()
        journal.close()
    traces = traces.refresh()
    return LLMRun(traces, replace(pool.usage), len(jobs), keeper.played, keeper.aside, keeper.stopped, keeper.outage)


def played_keys(traces: TraceSet) -> set[str]:
    """Return the keys of the episodes that a set holds."""
    return {job_key(r["game"], r["options"], r["hashes"], r["seed"], r["index"]) for r in traces.summary()}


def episode_key(job: DialogueJob) -> str:
    """Return what makes a job's episode this one and no other."""
    hashes = [i.hash for i in job.team.identities]
    return job_key(job.game.id, dict(job.game.options), hashes, job.seed, job.index)


def open_or_create(folder: Path, meta: dict[str, Any] | None = None) -> TraceSet:
    """The trace set of a folder, as it is or new."""
    return TraceSet.open(folder) if (folder / "manifest.json").exists() else TraceSet.create(folder, meta)


def _journal(folder: Path | None, replay: str | os.PathLike[str] | None) -> ResponseCache:
    if replay is None:
        return ResponseCache(folder / JOURNAL if folder else None)
    source = Path(replay) / JOURNAL
    if not source.is_file():
        raise InterplayError(f"{replay} is no run to replay: it has no {JOURNAL}")
    return ResponseCache(source, write=False)


class _EpisodeKeeper:
    """Keeps every episode as it ends, and says when to stop."""

    def __init__(self, traces: TraceSet, folder: Path | None, before: int, planned: int, meter: Usage, progress):
        self._writer = traces.writer(episodes=16, seconds=10.0)
        self._folder, self._before, self._planned = folder, before, planned
        self._meter, self._progress = meter, progress
        self._row = 0
        self.played, self.aside = 0, 0
        self.stopped: str | None = None
        self.outage: str | None = None
        if progress:
            progress(before, planned, meter)

    def ended(self, job: DialogueJob, episode: Episode) -> bool:
        end = episode.events[-1].payload
        if end["reason"] in OUTAGES:
            self._set_aside(episode)
            self._row += 1
            self.outage = str(end["message"])
            if end["reason"] != "unavailable" or self._row >= IN_A_ROW:
                self.stopped = self.stopped or self.outage
        else:
            self._row = 0
            self._writer.add(episode)
            self.played += 1
            if self._progress:
                self._progress(self._before + self.played, self._planned, self._meter)
        return self.stopped is None

    def _set_aside(self, episode: Episode) -> None:
        self.aside += 1
        if self._folder is not None:
            open_or_create(self._folder / SET_ASIDE).append([episode])

    def close(self) -> None:
        self._writer.commit()
