"""Limits, usage and prices of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from interplay.agents.llm.chat import Answer, LimitReached, RunLimitReached, estimate_tokens
from interplay.errors import InterplayError
from interplay.safe_files import read_json


@dataclass(frozen=True)
class Price:
    """Price in US dollars per million tokens."""

    tokens_in: float
    tokens_out: float


@dataclass(frozen=True)
class Limits:
    """What may be used; None: no limit.

    An episode that reaches a limit ends, keeps its score and records the reason.
    """

    episode_tokens: int | None = None  # of all seats of an episode, read and written
    episode_cost: float | None = None  # US dollars
    episode_calls: int | None = None
    run_tokens: int | None = None
    run_cost: float | None = None

    def __post_init__(self):
        for name, value in vars(self).items():
            if value is not None and value <= 0:
                raise InterplayError(f"{name}: {value}; a limit is above zero, or none")


@dataclass
class Usage:
    """What has been used so far. Cached answers count as when they were first given."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    unpriced: int = 0  # calls of unknown price
    spent: float = 0.0  # the part of the cost paid in this process, without cached answers

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.tokens_in + self.tokens_out

    def add(self, prompt: str, answer: Answer) -> None:
        """Count a call; tokens are estimated where the server reported none."""
        self.calls += 1
        self.tokens_in += answer.tokens_in if answer.tokens_in is not None else estimate_tokens(prompt)
        self.tokens_out += answer.tokens_out if answer.tokens_out is not None else estimate_tokens(answer.text)
        self.cost += answer.cost or 0.0
        self.unpriced += answer.cost is None
        self.spent += 0.0 if answer.cached else answer.cost or 0.0


def check(limits: Limits, episode: Usage, run: Usage) -> None:
    """Check before a call that no limit is reached.

    Raises:
        LimitReached: A limit of the episode is used up.
        RunLimitReached: A limit of the run is used up.
    """
    used = {
        "episode_tokens": episode.tokens,
        "episode_cost": episode.cost,
        "episode_calls": episode.calls,
        "run_tokens": run.tokens,
        "run_cost": run.cost,
    }
    for name, value in used.items():
        most = getattr(limits, name)
        if most is not None and value >= most:
            kind = RunLimitReached if name.startswith("run") else LimitReached
            raise kind(f"{name}: {value:g} of {most:g} used")


@dataclass(frozen=True)
class Prices:
    """Prices by model name; a model without an entry has an unknown price."""

    table: Mapping[str, Price] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Prices:
        """Read prices from JSON: {"openai/gpt-4o": {"in": 2.5, "out": 10}}, US dollars per million tokens.

        Raises:
            InterplayError: The file has another form.
        """
        file, data = Path(path), read_json(path)
        table = {}
        for name, entry in data.items() if isinstance(data, dict) else [("", None)]:
            if not isinstance(entry, dict) or not all(isinstance(entry.get(k), int | float) for k in ("in", "out")):
                raise InterplayError(f'{file}: write {{"provider/model": {{"in": 2.5, "out": 10}}}}; found {name!r}')
            table[name] = Price(float(entry["in"]), float(entry["out"]))
        return cls(table)

    def cost(self, model: str, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """Return the cost of a call in US dollars; None if the price or a count is unknown."""
        price = self.table.get(model)
        if price is None or tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * price.tokens_in + tokens_out * price.tokens_out) / 1e6
