"""The audit of talk for readers: numbers with intervals by level and by pairing, and every judged message."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from markupsafe import Markup

from interplay.errors import InterplayError, UnknownName
from interplay.metrics.communication.definitions import DEFINITIONS, HEADLINES
from interplay.metrics.communication.episodes import readable
from interplay.metrics.communication.foreign import write_transcripts
from interplay.metrics.communication.measures import detail, rows
from interplay.metrics.communication.metric import transcripts
from interplay.metrics.communication.model_reader import ModelReader, read_by_model
from interplay.metrics.communication.profiles import profile_name
from interplay.metrics.communication.reader_error import errors_of, known_errors, share_bounds
from interplay.metrics.communication.records import CATEGORIES, REASONS, AuditSettings, Transcript
from interplay.metrics.communication.source import open_source, transcripts_of
from interplay.metrics.measured_traces import MeasuredTraces
from interplay.reports.document import (
    Download,
    Group,
    KeyNumber,
    KeyNumbers,
    Report,
    ReportContext,
    Section,
    TableSection,
    Text,
)
from interplay.stats import interval_table
from interplay.table import Row, Table
from interplay.traces import TraceSet

MOST_SHOWN = 2000  # judged messages in a page; the downloads hold all
GROUPS: Mapping[str, tuple[str, ...]] = {
    "all": (),
    "level": ("level",),
    "pairing": ("agents",),
    "cell": ("agents", "level"),
    "dish": ("level", "dish"),
    "seat": ("agents", "seat", "agent"),
}
IN_SHORT = (
    "success", "length", "units", "follow_rate", "follow_rate_all", "redundancy", "latency", "waste", "verifier_burden",
    "adr", "comm_cost_completion", "tes",
)  # fmt: skip
SHARES_OF_REQUESTS = ("follow_rate", "redundancy", "repeat_rate", "delayed_rate", "assisted_rate")
READER_NOTE = (
    "Requests are read by rules, which err. The table says how often on labelled messages that the rules were not "
    "fitted to: precision is the share of requests read that were made, recall the share of requests made that were "
    "read. Columns *with reader* widen the interval of a share of requests by what may have been misread, whatever "
    "became of it; they are empty where the reader was not measured on a model that speaks."
)
OUTCOMES = {
    "effective": "share of requests that the partner carried out within the window",
    "assisted": "share carried out within the window after the verifier had refused them",
    "redundant": "share of requests for what was done before, as often as the recipe needs",
    "ineffective": "share of requests that came to nothing",
    "unstructured": "share of messages in which no request could be read",
    "judged": "requests, and messages without one",
    "level": "difficulty of the order, from 1",
    "dish": "the order",
}
READER = {
    "definition": "what the number is",
    "low_with_reader": "lower end of the interval, widened by what the reader may have misread",
    "high_with_reader": "upper end of the interval, widened by what the reader may have misread",
    "model": "the language model whose messages were labelled",
    "messages": "labelled messages that the rules were not fitted to",
    "requests": "requests that were made in them, by the labels",
    "precision": "share of requests read that were made",
    "recall": "share of requests made that were read",
    **OUTCOMES,
}
INTRO = (
    "Every request that was read from a message is held against what the partner then did. **Effective**: done within "
    "the window. **Assisted**: done within the window after the verifier had refused it. **Redundant**: done before "
    "the message as often as the recipe needs. **Ineffective**: anything else. **Unstructured**: no request could be "
    "read. Numbers are means over episodes with 95 % bootstrap intervals; an episode in which a rate has nothing to "
    "divide by is left out, and n tells how many were not."
)


@dataclass(frozen=True)
class CommunicationAudit:
    """The judged transcripts of a trace set or of a file."""

    name: str
    transcripts: Sequence[Transcript]
    settings: AuditSettings
    reader_model: str | None = None  # the model that read the requests; None: the rules did

    @cached_property
    def episodes(self) -> Table:
        """One row per value: episode, seat (null: the team), metric, value."""
        episode_rows = [row for one in self.transcripts for row in rows(one, self.settings)]
        return Table.of(episode_rows, "Audit of talk, by episode")

    @cached_property
    def judged(self) -> Table:
        """One row per request, or per message without one, with the action that settled it."""
        judged_rows = [row for one in self.transcripts for row in detail(one, self.settings)]
        return Table.of(
            [{k: v for k, v in row.items() if k not in ("metric", "value")} for row in judged_rows], "Judged"
        )

    def summary(self, by: str = "cell", metrics: Sequence[str] = HEADLINES, seed: int = 0) -> Table:
        """Means over episodes with their intervals, for each group and metric."""
        if by not in GROUPS:
            raise InterplayError(f"by: {by!r}; the audit is grouped by {', '.join(GROUPS)}")
        check_metrics(metrics)
        columns, team = GROUPS[by], by != "seat"
        chosen = [
            row
            for row in self.episodes
            if row["metric"] in metrics and row["window"] == self.settings.window_name and (row["seat"] is None) == team
        ]
        if not chosen:
            return Table.of([], "Audit of talk", columns=[*columns, "metric", "mean", "low", "high", "n"])
        intervals = interval_table(
            Table.of(chosen), by=[*columns, "metric"], seed=seed, statistic="mean", missing="drop", replicates=1000
        )
        order = {name: place for place, name in enumerate(metrics)}
        speakers: dict[tuple, set[str]] = {}
        for row in chosen:
            names = [row["agent"]] if by == "seat" else str(row.get("agents") or "").split(" | ")
            speakers.setdefault(tuple(row[c] for c in columns), set()).update(names)
        summary_rows = [
            {**{c: r[c] for c in (*columns, "metric")}, "mean": r["estimate"], "low": r["low"], "high": r["high"],
             **_with_reader(r, speakers[tuple(r[c] for c in columns)] if self.reader_model is None else ()),
             "n": r["n"], "window": self.settings.window_name}
            for r in intervals
        ]  # fmt: skip
        summary_rows.sort(key=lambda r: (*[str(r[c]) for c in columns], order[r["metric"]]))
        return Table.of(summary_rows, "Audit of talk: means over episodes with 95 % intervals")

    @cached_property
    def reader(self) -> Table:
        """The known error of the reader: precision and recall by model, on messages that it was not fitted to."""
        if self.reader_model is not None:
            return Table.of([], f"The error of {self.reader_model} as a reader is not known", columns=["model"])
        return Table.of([asdict(error) for error in known_errors().values()], "Known error of the reader, by model")

    def outcomes(self, by: str = "level") -> Table:
        """The share of each category among all requests and unstructured messages."""
        shares_by_group = []
        for key, part in self.judged.groups(*GROUPS[by]).items() if len(self.judged) else ():
            total = len(part)
            shares = {c: len(part.where(category=c)) / total for c in CATEGORIES}
            shares_by_group.append(dict(zip(GROUPS[by], key, strict=True)) | shares | {"judged": total})
        return Table.of(shares_by_group, "What became of requests", columns=[*GROUPS[by], *CATEGORIES, "judged"])

    def write_transcripts(self, path: str | os.PathLike[str]) -> int:
        """The events as JSON lines, for other programs; how many episodes."""
        with Path(path).open("w", encoding="utf-8") as file:
            return write_transcripts(self.transcripts, file.write)

    def report(self, title: str = "Audit of talk", links: Sequence[int] = ()) -> Report:
        """Return the report of the audit.

        Args:
            title: The title.
            links: Numbers of episodes whose replays are in the page.
        """
        provenance = {"source": self.name, "episodes": len(self.transcripts), "window": self.settings.window_name}
        provenance |= {"redundancy": self.settings.redundancy, "reader": self.reader_model or "rules"}
        provenance["judging"] = profile_name(self.settings)
        return Report(title, self.sections(links), "What messages achieve", provenance)

    def sections(self, links: Sequence[int] = ()) -> list[Section]:
        """Numbers, tables and every judged message. `links` are episodes whose replays are in the page."""
        parts: list[Section] = [Text(INTRO), _key_numbers(self)]
        for by, name in (("level", "By level"), ("pairing", "By pairing: chef | assistant")):
            wide = _wide(self.summary(by, IN_SHORT), GROUPS[by])
            digits = {column: 2 for column in wide.columns if column not in GROUPS[by]}
            labels = {column: column.replace("_", " ") for column in wide.columns}
            parts.append(
                TableSection(wide, name, name=f"audit-by-{by}", digits=digits, labels=labels, meanings=DEFINITIONS)
            )
            shares: dict[str, int] = dict.fromkeys(CATEGORIES, 2)
            parts.append(
                TableSection(
                    self.outcomes(by), f"Outcomes by {by}", name=f"outcomes-by-{by}", digits=shares, meanings=OUTCOMES
                )
            )
        long = [{**row, "definition": DEFINITIONS[row["metric"]]} for row in self.summary("level", tuple(DEFINITIONS))]
        parts.append(
            TableSection(
                Table.of(long), "All numbers, with their definitions", name="audit-all", limit=500,
                hide=("window",), digits={"mean": 3}, meanings=READER,
            )
        )  # fmt: skip
        digits = {column: 3 for column in self.reader.columns if column not in ("model", "messages", "requests")}
        if self.reader_model is None:
            parts += [
                Text(READER_NOTE),
                TableSection(self.reader, "How often the reader errs", digits=digits, meanings=READER),
            ]
        else:
            parts.append(Text(f"Requests were read by {self.reader_model}; how often it errs is not known."))
        parts.append(JudgedMessages(self.judged, links))
        return parts


def _with_reader(row: Row, agents: Iterable[str]) -> Row:
    """The interval of a share of requests, with what the reader may have misread."""
    errors = errors_of(agents) if row["metric"] in SHARES_OF_REQUESTS else None
    mean: float | None = row["estimate"]
    if errors is None or mean is None:
        return {"low_with_reader": None, "high_with_reader": None}
    least, most = share_bounds(errors, *(mean if row[end] is None else float(row[end]) for end in ("low", "high")))
    return {"low_with_reader": least, "high_with_reader": most}


def check_metrics(names: Sequence[str]) -> None:
    """An error if the audit has no number of such a name."""
    for name in names:
        if name not in DEFINITIONS:
            raise UnknownName("metric of the audit", name, list(DEFINITIONS))


def audit(
    source: TraceSet | list[Transcript] | str | os.PathLike[str],
    settings: AuditSettings | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    name: str | None = None,
    reader: ModelReader | None = None,
) -> CommunicationAudit:
    """Judge every message of a trace set, of a file of JSON lines, or of transcripts at hand.

    Args:
        source: What to audit.
        settings: How to judge.
        progress: Called with the number of episodes that were read.
        name: What the audit is called in reports.
        reader: A model that reads the requests; by default the rules do.
    """
    opened = source if isinstance(source, list) else open_source(source)
    called = name or (Path(opened.name).name if isinstance(opened, TraceSet) else "transcripts")
    transcripts, model = list(transcripts_of(opened, progress)), None
    if reader is not None:
        transcripts, unread = read_by_model(transcripts, reader)
        model = f"{reader.model.name} ({unread} messages left to the rules)" if unread else reader.model.name
    return CommunicationAudit(called, transcripts, settings or AuditSettings(), model)


def sections(measured: MeasuredTraces) -> list[Section]:
    """What a report of a trace set says of its talk; nothing where nobody talks in a kitchen."""
    kitchens = [sample for sample in measured.samples if readable(sample.game)]
    judged = CommunicationAudit(
        measured.traces.name, [t for sample in kitchens for t in transcripts(sample)], AuditSettings()
    )
    if not any(event.kind == "message" for one in judged.transcripts for event in one.events):
        return []
    return [Group(judged.sections(measured.shown), "What messages achieve")]


@dataclass(frozen=True)
class JudgedMessages:
    """Every judged message with the action that settled it, to be filtered by category."""

    judged: Table
    links: Sequence[int] = ()
    title: str = "Every judged message"

    def html(self, context: ReportContext) -> Markup:
        """The table of messages, the first of them if there are many."""
        rows_shown = self.judged.rows[:MOST_SHOWN]
        counts = {c: sum(row["category"] == c for row in self.judged) for c in CATEGORIES}
        return context.render(
            "communication.html.j2",
            rows=[self._row(row) for row in rows_shown],
            counts=counts,
            total=len(self.judged),
            shown=len(rows_shown),
            reasons=REASONS,
            id=context.id("judged"),
            downloads=[Download.of(path, content) for path, content in self.files().items()],
        )

    def _row(self, row: Row) -> Row:
        number = row.get("episode")
        return row | {"href": f"#replay-{number}@{row['t']}" if number in self.links else ""}

    def files(self) -> Mapping[str, str]:
        """All messages as CSV and as JSON."""
        stem = "tables/judged-messages"
        return {f"{stem}.csv": self.judged.to_csv(), f"{stem}.json": self.judged.to_json() + "\n"}


def _wide(summary: Table, columns: Sequence[str]) -> Table:
    """A row per group, a column per metric: `x`, with its interval `x_low` to `x_high`."""
    lines: dict[tuple, Row] = {}
    for row in summary:
        group = tuple(row[c] for c in columns)
        line = lines.setdefault(group, dict(zip(columns, group, strict=True)))
        line |= {row["metric"]: row["mean"], f"{row['metric']}_low": row["low"], f"{row['metric']}_high": row["high"]}
    return Table.of(lines.values())


def _key_numbers(audited: CommunicationAudit) -> KeyNumbers:
    numbers = [KeyNumber("episodes", str(len(audited.transcripts)))]
    names = {"units": "requests an episode", "follow_rate": "followed", "redundancy": "redundant", "waste": "waste"}
    for row in audited.summary("all", tuple(names)):
        if row["mean"] is not None:
            note = f"[{row['low']:.2f}, {row['high']:.2f}]" if row["low"] is not None else ""
            numbers.append(KeyNumber(names[row["metric"]], f"{row['mean']:.2f}", note))
    return KeyNumbers(numbers)
