"""Calls of language models in a report: what they used, how often they fell back, and every call to look into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from interplay.metrics.measured_traces import MeasuredTraces
from interplay.metrics.model_calls import DEFINITIONS, compute, fallback_by_team, fallback_warnings
from interplay.reports.dialogue import dialogue_lines
from interplay.reports.document import Download, Group, ReportContext, Section, TableSection, Text
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.table import Row, Table, mean

MOST_CALLS = 1000  # shown in a page; prompts are long
COLUMNS = (
    "calls", "fallback_share", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "tokens_estimated",
    "cost", "latency_s", "waiting_s", "prediction_accuracy",
)  # fmt: skip


def sections(measured: MeasuredTraces) -> list[Section]:
    """Return what a report says of the models that play; nothing where none does."""
    shares = fallback_by_team(measured.samples)
    if not shares:
        return []
    rows = [{"agents": agents, "fallback": share} for (_, agents), share in shares.items()]
    warnings = [Text(f"**{line[0].upper()}{line[1:]}.**") for line in fallback_warnings(rows)]
    used = _usage(measured)
    digits = {name: 2 for name in COLUMNS if name not in ("calls", "tokens_in", "tokens_out")} | {"cost": 4}
    about = Text("; ".join(f"*{name}*: {DEFINITIONS[name]}" for name in COLUMNS if name in used.columns) + ".")
    labels = {name: name.replace("_", " ") for name in used.columns}
    table = TableSection(
        used, "What the models used, an episode", name="model-calls", digits=digits, labels=labels, meanings=DEFINITIONS
    )
    viewer = CallViewer([row for number in measured.shown for row in _calls(measured, number)], len(measured.shown))
    return [Group([*warnings, table, about, viewer], "Language models")]


def _usage(measured: MeasuredTraces) -> Table:
    """A row per team, seat and agent: means over episodes, of those in which a number is known."""
    groups: dict[tuple, dict[str, list[float | None]]] = {}
    for sample in measured.samples:
        for row in compute(sample):
            group = groups.setdefault((row["game"], row["agents"], row["seat"], row["agent"]), {})
            group.setdefault(row["metric"], []).append(row["value"])
    rows = []
    for (game, agents, seat, agent), values in groups.items():
        known = [name for name in COLUMNS if any(mean(g.get(name, ())) is not None for g in groups.values())]
        means = {name: mean(values.get(name, ())) for name in known}
        rows.append({"game": game, "team": agents, "seat": seat, "agent": agent} | means)
    return Table.of(rows, "What the models used")


def _calls(measured: MeasuredTraces, number: int) -> Iterator[Row]:
    game, episode, _ = measured.episode(number)
    for place, event in enumerate(episode.events):
        if event.kind == "call" and event.seat is not None:
            yield {
                "episode": number,
                "t": event.t,
                "seat": game.seat_names[event.seat],
                "outcome": _outcome(episode, place, event, tuple(game.seat_names)),
                **{name: event.payload.get(name) for name in SHOWN},
            }


SHOWN = (
    "model", "template", "purpose", "scaffold", "tokens_in", "tokens_out", "cost", "latency_s", "retries", "cached",
    "finish", "parse_ok", "parse_error", "repaired", "prompt", "answer",
)  # fmt: skip


def _outcome(episode: Episode, place: int, call: RecordedEvent, seats: tuple[str, ...]) -> list[str]:
    """What followed from a call: the seat's events until its next one, or until the step ends."""
    following: list[RecordedEvent] = []
    for event in episode.events[place + 1 :]:
        if event.t != call.t or (event.seat == call.seat and event.kind == "call"):
            break
        if event.seat == call.seat:
            following.append(event)
    return [f"{line['kind']}: {line['text']}" for line in dialogue_lines(following, seats)]


@dataclass(frozen=True)
class CallViewer:
    """Every call of the shown episodes: prompt, answer, parse, verdict and cost, to be searched."""

    calls: Sequence[Row]
    episodes: int
    title: str = "Every call of the shown episodes"

    def html(self, context: ReportContext) -> Markup:
        """Return the section."""
        return context.render(
            "model_calls.html.j2",
            calls=self.calls[:MOST_CALLS],
            total=len(self.calls),
            id=context.id("calls"),
            downloads=[Download.of(path, content) for path, content in self.files().items()],
        )

    def files(self) -> Mapping[str, str]:
        """Return the calls as files of a bundle."""
        table = Table.of([{**row, "outcome": "; ".join(row["outcome"])} for row in self.calls], "calls")
        return {"tables/model-calls-all.csv": table.to_csv(), "tables/model-calls-all.json": table.to_json() + "\n"}
