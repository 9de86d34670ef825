"""Limits, usage and prices of a run."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.agents.llm.chat import Answer, LimitReached, RunLimitReached, estimate_tokens
from interplay.errors import InterplayError
from interplay.untrusted_files import read_json


@dataclass(frozen=True)
class Price:
    """Price in US dollars per million tokens."""

    tokens_in: float
    tokens_out: float
    tokens_cached: float | None = None  # of tokens read that the provider had cached; None: as other tokens read


@dataclass(frozen=True)
class Limits:
    """What may be used; None: no limit.

    An episode that reaches a limit ends, keeps its score and records the reason.
    """

    episode_tokens: int | None = None  # read and written; of all seats of a kitchen, of each seat elsewhere
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
    tokens_estimated: int = 0  # of all tokens, those of calls whose provider did not count: four characters each
    tokens_cached: int = 0  # of the tokens read, as far as it is told
    tokens_reasoning: int = 0  # of the tokens written, as far as it is told
    spent: float = 0.0  # the part of the cost paid in this process, without cached answers

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.tokens_in + self.tokens_out

    def add(self, prompt: str, answer: Answer) -> None:
        """Count a call; tokens are estimated where the server reported none."""
        self.calls += 1
        for name, told, text in (
            ("tokens_in", answer.tokens_in, prompt),
            ("tokens_out", answer.tokens_out, answer.text),
        ):
            count = estimate_tokens(text) if told is None else told
            setattr(self, name, getattr(self, name) + count)
            self.tokens_estimated += count if told is None else 0
        self.tokens_cached += answer.tokens_cached or 0
        self.tokens_reasoning += answer.tokens_reasoning or 0
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
    """Prices by model name, as of a date; a model without an entry has an unknown price."""

    table: Mapping[str, Price] = field(default_factory=dict)
    date: str | None = None  # when they held, as YYYY-MM-DD

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Prices:
        """Read prices from JSON, in US dollars per million tokens.

        The form is {"date": "2026-11-01", "prices": {"openai/gpt-4o": {"in": 2.5, "out": 10, "cached": 1.25}}}, or
        the inner table alone, without a date. The price of cached tokens can be left out.

        Raises:
            InterplayError: The file has another form.
        """
        file, data = Path(path), read_json(path)
        date, entries = None, data
        if isinstance(data, dict) and isinstance(data.get("prices"), dict):
            date, entries = data.get("date"), data["prices"]
            if not isinstance(date, str) or not _is_date(date):
                raise InterplayError(f"{file}: date is {date!r}; write the day on which the prices held, YYYY-MM-DD")
        table = {}
        for name, entry in entries.items() if isinstance(entries, dict) else [("", None)]:
            given = entry if isinstance(entry, dict) else {}
            if not all(_is_price(given.get(k)) for k in ("in", "out")) or not _is_price(given.get("cached", 0)):
                raise InterplayError(f'{file}: write {{"provider/model": {{"in": 2.5, "out": 10}}}}; found {name!r}')
            cached = float(given["cached"]) if "cached" in given else None
            table[name] = Price(float(given["in"]), float(given["out"]), cached)
        return cls(table, date)

    def described(self) -> dict[str, Any]:
        """Return date and prices as plain values."""
        return {"date": self.date, "prices": {name: vars(price) for name, price in self.table.items()}}

    def cost_of(self, model: str, answer: Answer) -> float | None:
        """Return the cost of an answer in US dollars; None if the price or a count is unknown."""
        return self.cost(model, answer.tokens_in, answer.tokens_out, answer.tokens_cached or 0)

    def cost(
        self, model: str, tokens_in: float | None, tokens_out: float | None, tokens_cached: float = 0
    ) -> float | None:
        """Return the cost of a call in US dollars; None if the price or a count is unknown."""
        price = self.table.get(model)
        if price is None or tokens_in is None or tokens_out is None:
            return None
        cached_price = price.tokens_in if price.tokens_cached is None else price.tokens_cached
        read = (tokens_in - tokens_cached) * price.tokens_in + tokens_cached * cached_price
        return (read + tokens_out * price.tokens_out) / 1e6


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
