"""The communication audit as a metric over trace sets."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from interplay.metrics.api import Metric, Sample
from interplay.metrics.communication.episodes import transcript
from interplay.metrics.communication.measures import detail, rows
from interplay.metrics.communication.profiles import with_profile
from interplay.metrics.communication.records import AuditSettings, Transcript
from interplay.table import Row

FIELDS = [f.name for f in dataclasses.fields(AuditSettings)]


def transcripts(sample: Sample) -> Iterator[Transcript]:
    """The episodes of a sample as transcripts."""
    for base, episode, replay, number in zip(
        sample.about(), sample.episodes, sample.replays, sample.numbers, strict=True
    ):
        yield transcript(sample.game, episode, replay, number, base)


def settings_of(options: Mapping[str, Any]) -> AuditSettings:
    """Return the audit's settings that a metric's options name."""
    settings = AuditSettings(**{name: options[name] for name in FIELDS if options.get(name) is not None})
    return with_profile(settings, options["judging"]) if options.get("judging") else settings


def compute(sample: Sample) -> Iterator[Row]:
    """Yield the rows of every episode of a sample; with the option `detail`, a row per request."""
    settings = settings_of(sample.options)
    for episode in transcripts(sample):
        yield from (detail if sample.options.get("detail") else rows)(episode, settings)


COMMUNICATION = Metric(
    name="communication",
    doc="what messages achieve: outcomes of every request, follow rate, cost, hand-overs, waste, reference plans",
    compute=compute,
    direction="neither",
    unit="per episode",
    source="trace-grounded outcomes of requests; definitions in docs/metrics/communication.md",
    options={
        "window": "steps in which a request can be followed; by default alpha x the level's horizon",
        "alpha": "share of the horizon, .15 by default",
        "judging": "a named set of the five rules below: paper, authors or ours (default)",
        "redundancy": "demand (default): done as often as the recipe needs; literal: done; partner: by the partner",
        "checks": "recipe and reach (default), recipe or none: what makes a request ineffective from the start",
        "repeats": "ineffective (default): of an open request; redundant: any repeat; apart: judged by itself",
        "claims": "one (default) or many: requests that an action can settle",
        "corrections": "same (default) or any: refusals that make a followed request assisted",
        "gamma": "discount of the reward in the utility",
        "cost_time": "points of utility that a step costs",
        "cost_tokens": "points of utility that a token costs",
        "cost_verifier": "points of utility that a refusal costs",
        "cost_redundant": "points of utility that an action beyond need costs",
        "beta": "weight of brevity in TES, .95 by default",
        "detail": "list every judged message with the action that settled it",
    },
)
