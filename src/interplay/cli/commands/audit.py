"""`interplay llm audit`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import tyro

from interplay.cli.show import note, show
from interplay.errors import InterplayError
from interplay.metrics.communication.profiles import ProfileName, with_profile
from interplay.metrics.communication.records import AuditSettings
from interplay.progress import bar


@dataclass(frozen=True)
class AuditCommand:
    """What messages achieved: every request read from talk, settled by what the partner then did.

    SOURCE is a trace set of kitchens, a file of JSON lines with the events of other programs (the format is in
    docs/metrics/communication.md), or experiment logs of Collab-Overcooked, one or a folder of them.

    Examples:
      interplay llm audit traces
      interplay llm audit traces --by pairing --json
      interplay llm audit traces --by pairing --wide
      interplay llm audit transcript.jsonl --show judged
      interplay llm audit traces --window 20 --redundancy literal --report audit.html
      interplay llm audit traces --transcript events.jsonl
      interplay llm audit logs --judging paper authors ours --by all
      interplay llm audit events.jsonl --reader openai/gpt-4o --reader-journal readings.jsonl
    """

    source: Annotated[Path, tyro.conf.Positional]
    """Folder of a trace set, a file of JSON lines, or experiment logs of Collab-Overcooked."""
    show: Literal["summary", "episodes", "judged", "outcomes"] = "summary"
    """Means with intervals; every value of every episode; every judged message; or shares of outcomes."""
    by: Literal["all", "level", "pairing", "cell", "dish", "seat"] = "cell"
    """What the summary and the outcomes are grouped by; a cell is a pairing (chef, assistant) at a level."""
    metrics: tuple[str, ...] = ()
    """Metrics of the summary; by default the headlines."""
    wide: bool = False
    """The means of the summary with a row for each group and a column for each metric."""
    settings: tyro.conf.OmitArgPrefixes[AuditSettings] = field(default_factory=AuditSettings)
    """How to judge and weigh."""
    judging: tuple[ProfileName, ...] = ()
    """Named rules of judging in place of the single ones: paper, authors, ours. Several are shown side by side."""
    reader: str | None = None
    """A model, as provider/model, that reads the requests in place of the rules: for languages other than English."""
    reader_journal: Path | None = None
    """File that keeps the reader's answers: what stands in it is not asked again."""
    reader_offline: bool = False
    """Take the reader's answers from the journal alone."""
    base_url: tuple[str, ...] = ()
    """Endpoints of the reader as provider=URL; else PROVIDER_BASE_URL."""
    report: Path | None = None
    """Write an HTML report with every judged message to this file."""
    transcript: Path | None = None
    """Write the events as JSON lines to this file."""
    seed: int = 0
    """Seed of the bootstrap."""
    json: bool = False
    """Print one JSON object, definitions included."""

    def run(self) -> None:
        """Audit the source, print the chosen table, and write what is asked for."""
        from interplay.metrics.communication.definitions import DEFINITIONS, HEADLINES
        from interplay.metrics.communication.source import open_source
        from interplay.reports.communication import GROUPS, READER_NOTE, audit, check_metrics

        if self.wide and (self.show != "summary" or len(self.judging) > 1):
            raise InterplayError("--wide is of the summary by one way of judging")
        if self.by == "seat" and self.show == "outcomes":
            raise InterplayError(
                "outcomes are grouped by all, level, pairing, cell or dish; a seat's are in the summary"
            )
        check_metrics(self.metrics)
        opened = open_source(self.source)
        with bar("auditing", len(opened)) as advance:
            audited = audit(opened, self._settings(), advance, name=self.source.name, reader=self._reader())
        if len(self.judging) > 1:
            self._compare(audited)
            return
        chosen = self.metrics or HEADLINES
        if self.show == "summary":
            table = audited.summary(self.by, chosen, self.seed)
            if self.wide:
                table = replace(table, title="Audit of talk: means over episodes").pivot(GROUPS[self.by], value="mean")
            definitions = {name: DEFINITIONS[name] for name in chosen}
        else:
            table = {"episodes": audited.episodes, "judged": audited.judged, "outcomes": audited.outcomes(self.by)}[
                self.show
            ]
            definitions = dict(DEFINITIONS) if self.show == "episodes" else {}
        reader = {"reader": audited.reader.rows} if self.json and self.show == "summary" else {}
        keys = GROUPS[self.by] if self.wide else ()
        show(table, keys, json=self.json, episodes=len(audited.transcripts), definitions=definitions, **reader)
        if self.show == "summary" and not self.json:
            if audited.reader_model is None:
                show(audited.reader, json=False)
                note(READER_NOTE.replace("*", ""))
            else:
                note(f"requests were read by {audited.reader_model}; how often it errs is not known")
        if self.report:
            note(f"report: {audited.report().write(self.report)}")
        if self.transcript:
            note(f"{audited.write_transcripts(self.transcript)} episodes: {self.transcript}")

    def _settings(self) -> AuditSettings:
        return with_profile(self.settings, self.judging[0]) if len(self.judging) == 1 else self.settings

    def _compare(self, audited) -> None:
        from interplay.reports.judging_profiles import compare_judgings

        if self.by == "seat" or self.show != "summary" or self.report:
            raise InterplayError("several profiles give one table, by all, level, pairing, cell or dish: name one else")
        table = compare_judgings(audited, self.judging, self.by, self.seed)
        show(table, json=self.json, episodes=len(audited.transcripts))

    def _reader(self):
        if self.reader is None:
            if self.reader_journal or self.reader_offline:
                raise InterplayError("--reader-journal and --reader-offline need --reader, the model that reads")
            return None
        from interplay.agents.llm.models import ModelPool
        from interplay.agents.llm.response_cache import ResponseCache
        from interplay.cli.commands.llm import Models
        from interplay.metrics.communication.model_reader import ModelReader

        urls = Models(base_url=self.base_url).service().base_urls
        pool = ModelPool(ResponseCache(self.reader_journal), offline=self.reader_offline, base_urls=urls)
        return ModelReader(pool.model(self.reader))
