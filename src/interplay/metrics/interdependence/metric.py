"""Interdependence as a metric over trace sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import capability
from interplay.metrics.api import Metric, Sample
from interplay.metrics.interdependence.count import count
from interplay.metrics.interdependence.records import Interdependence, InterdependenceOptions
from interplay.metrics.interdependence.rows import detail, rows
from interplay.rollout.episode import Episode
from interplay.symbolic.read import read, reader
from interplay.table import Row


def interdependence(sample: Sample) -> Iterator[tuple[Episode, list[Interdependence]]]:
    """The counts of every episode of a sample, one for each set of channels that was asked for."""
    rule = {"rule": sample.options["rule"]} if sample.options.get("rule") else {}
    for episode, replay in zip(sample.episodes, sample.replays, strict=True):
        trace = read(sample.game, replay.states, episode.actions)
        ways = _channels(sample.options.get("channels"), tuple(trace.domain.channels))
        yield episode, [count(trace, InterdependenceOptions(channels=channels, **rule)) for channels in ways]


def readable(game: Game) -> bool:
    """Whether the game declares a symbolic domain, so that it can be told who helped whom."""
    return capability(game, "symbolic_domain") is not None


def counted_channels(game: Game) -> str | None:
    """Return the ways of handing over that count by default, joined by +; None for games that cannot tell."""
    return "+".join(reader(game).domain.default_channels) if readable(game) else None


def _channels(requested: Any, known: tuple[str, ...]) -> list[tuple[str, ...] | None]:
    """`None`: the domain's default. `each`: every channel alone, then all together. Otherwise names joined by +."""
    if requested is None:
        return [None]
    if requested == "all":
        return [known]
    if requested == "each":
        return [*[(channel,) for channel in known], known] if len(known) > 1 else [known]
    if not isinstance(requested, str):
        raise InterplayError(
            f"channels: {requested!r}; write names joined by + (of {', '.join(known)}), or 'all', or 'each'"
        )
    return [tuple(requested.split("+"))]


def compute(sample: Sample) -> Iterator[Row]:
    """Yield the rows of every episode of a sample; with the option `detail`, a row per link."""
    for base, (episode, counts) in zip(sample.about(), interdependence(sample), strict=True):
        names = [identity.name for identity in episode.agents]
        for counted in counts:
            for row in (detail if sample.options.get("detail") else rows)(counted, about=base):
                yield _named(row, names)


def _named(row: Row, names: list[str]) -> Row:
    """The row with the names of those whom it speaks of."""
    if row.get("giver") is not None:
        return {**row, "agent": f"{names[row['giver']]} → {names[row['receiver']]}"}
    return {**row, "agent": names[row["seat"]] if row.get("seat") is not None else None}


INTERDEPENDENCE = Metric(
    name="interdependence",
    doc="who helps whom: hand-overs by giver and receiver and class, triggers accepted, parked and ignored",
    compute=compute,
    direction="neither",
    unit="per episode",
    source="causal links between operators of the symbolic trace; definitions in docs/guide/interdependence.md",
    options={
        "channels": "ways of handing over that count: names joined by +, 'all' together, or 'each' apart",
        "rule": "overlap (default), subset (the paper's literal reading) or authors (its program's rule, Overcooked)",
        "detail": "list every link with its times instead of counting",
    },
)
