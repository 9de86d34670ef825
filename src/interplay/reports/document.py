"""A report: sections in order, written as one HTML file that needs nothing from outside, or as a folder.

A section is any object with `title`, `html(context)` and `files()`, so that other parts of interplay, and
users, add their own. Everything that comes from data is escaped by the templates.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import jinja2
from markupsafe import Markup

from interplay import __version__
from interplay.errors import InterplayError
from interplay.games.scene import SEAT_COLOURS
from interplay.markdown import to_html
from interplay.reports import svg
from interplay.reports.formatting import Column, columns_of, privileged_in
from interplay.reports.glossary import meaning
from interplay.reports.replay import still
from interplay.table import Table, plain

TEMPLATES = Path(__file__).with_name("templates")
_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
WIDEST = 8  # columns of a table of one row; one with more is shown upright
TOLD_ONCE = ("game", "agent", "kind", "metric", "unit", "episodes", "n", "resampled", "not_resampled", "level")


class ReportContext:
    """What a section may use while the page is written: templates, and names that are unique in the page."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self.glossary: dict[str, str] = {}  # what the columns of all tables mean, by their labels

    def id(self, name: str) -> str:
        """Return a name that is unique in the page."""
        base = _slug(name)
        candidate, n = base, 2
        while candidate in self._taken:
            candidate, n = f"{base}-{n}", n + 1
        self._taken.add(candidate)
        return candidate

    def render(self, template: str, **values: Any) -> Markup:
        """Render a template of this package."""
        return Markup(_ENVIRONMENT.get_template(template).render(context=self, **values))


class Section(Protocol):
    """A part of a report."""

    @property
    def title(self) -> str:
        """The heading; empty: none."""
        ...

    def html(self, context: ReportContext) -> Markup:
        """The section's body, without its heading."""
        ...

    def files(self) -> Mapping[str, str]:
        """What the bundle holds of this section besides the page: path -> text."""
        ...


@dataclass(frozen=True)
class Text:
    """Paragraphs and lists. **bold**, *emphasis*, `code` and [links](#replay-0@10) are understood; HTML is not."""

    body: str
    title: str = ""

    def html(self, context: ReportContext) -> Markup:
        """The text as HTML."""
        return Markup(to_html(self.body))

    def files(self) -> Mapping[str, str]:
        """No files."""
        return {}


@dataclass(frozen=True)
class KeyNumber:
    """A number worth seeing first."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class KeyNumbers:
    """A row of numbers in large type."""

    numbers: Sequence[KeyNumber]
    title: str = ""

    def html(self, context: ReportContext) -> Markup:
        """The numbers as HTML."""
        return context.render("numbers.html.j2", numbers=self.numbers)

    def files(self) -> Mapping[str, str]:
        """No files."""
        return {}


@dataclass(frozen=True)
class TableSection:
    """A table that sorts by click, with estimates and their intervals in one cell.

    `intervals` maps a column to its (low, high) columns; when None, `low` and `high` belong to the column
    `estimate`, `mean` or `iqm`, and `x_low` and `x_high` to `x`. Agents named in the column `privileged`, and
    those given, are marked with a dagger. Only `limit` rows are shown; the downloads hold all of them.
    """

    table: Table
    title: str = ""
    caption: str = ""
    name: str = ""
    intervals: Mapping[str, tuple[str, str]] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    hide: Sequence[str] = ()
    digits: Mapping[str, int] = field(default_factory=dict)
    privileged: Sequence[str] = ()
    limit: int = 200
    meanings: Mapping[str, str] = field(default_factory=dict)  # of columns that only this table has

    @property
    def columns(self) -> list[Column]:
        """The columns as shown."""
        marked = {*self.privileged, *privileged_in(self.table)}
        return columns_of(self.table, self.intervals, self.labels, self.hide, self.digits, marked)

    def html(self, context: ReportContext) -> Markup:
        """The table, its first `limit` rows; what its columns mean goes into the page's glossary."""
        columns, rows_shown = self.columns, self.table.rows[: self.limit]
        for column in columns:
            text = self.meanings.get(column.name) or meaning(column.name)
            if text:
                context.glossary.setdefault(column.label, text)
        # What is the same in every row is told once, above the table.
        told_once = [c for c in columns if c.name in TOLD_ONCE and len(self.table) > 1]
        constant = [c for c in told_once if len(set(map(str, self.table.column(c.name)))) == 1]
        columns = [c for c in columns if c not in constant]
        once = "; ".join(f"{c.label}: {c.cell(rows_shown[0]).text}" for c in constant)
        cells = [[column.cell(row) for column in columns] for row in rows_shown]
        return context.render(
            "table.html.j2",
            columns=columns,
            rows=cells,
            caption=". ".join(filter(None, (self.caption.rstrip("."), once))),
            label=self.title or self.table.title,
            total=len(self.table),
            shown=len(rows_shown),
            upright=len(self.table) == 1 and len(columns) > WIDEST,
            dagger=any(cell.dagger for line in cells for cell in line),
            downloads=[Download.of(path, content) for path, content in self.files().items()],
        )

    def files(self) -> Mapping[str, str]:
        """The whole table as CSV and as JSON."""
        stem = f"tables/{_slug(self.name or self.title or self.table.title or 'table')}"
        return {f"{stem}.csv": self.table.to_csv(), f"{stem}.json": self.table.to_json() + "\n"}


@dataclass(frozen=True)
class Figure:
    """A drawing (SVG), with a caption and a file of its own."""

    svg: str
    title: str = ""
    caption: str = ""
    name: str = ""
    privileged: bool = False  # whether it shows agents that need the footnote

    def html(self, context: ReportContext) -> Markup:
        """The drawing with its caption."""
        downloads = [Download.of(path, content) for path, content in self.files().items()]
        # The drawing is our own markup, in which the figures escape every name.
        return context.render("figure.html.j2", drawing=Markup(self.svg), figure=self, downloads=downloads)

    def files(self) -> Mapping[str, str]:
        """The drawing as an SVG file."""
        return {f"figures/{_slug(self.name or self.title or 'figure')}.svg": svg.standalone(self.svg)}


@dataclass(frozen=True)
class ReportReplay:
    """Episodes to watch, as `replay_data` gives them. Link to a moment with `#replay-ID@STEP`."""

    episodes: Sequence[Mapping[str, Any]]
    title: str = "Replays"
    caption: str = ""

    def html(self, context: ReportContext) -> Markup:
        """The player with its episodes.

        Raises:
            InterplayError: There are none.
        """
        if not self.episodes:
            raise InterplayError("a Replay section needs at least one episode; leave the section out instead")
        stage = Markup(still(self.episodes[0]).svg())
        return context.render(
            "replay.html.j2", episodes=self.episodes, stage=stage, caption=self.caption, data=json_island(self.episodes)
        )

    def files(self) -> Mapping[str, str]:
        """The data of each episode as JSON."""
        return {f"replays/replay-{e['id']}.json": json.dumps(plain(e), ensure_ascii=False) for e in self.episodes}


@dataclass(frozen=True)
class Columns:
    """Sections side by side where the page is wide enough."""

    stacked: ClassVar[bool] = False

    sections: Sequence[Section]
    title: str = ""

    def html(self, context: ReportContext) -> Markup:
        """The sections as HTML."""
        parts = [(part.title, part.html(context)) for part in self.sections]
        return context.render("columns.html.j2", parts=parts, stacked=self.stacked)

    def files(self) -> Mapping[str, str]:
        """The files of all sections."""
        return _all_files(self.sections)


@dataclass(frozen=True)
class Group(Columns):
    """Sections one below the other under one heading."""

    stacked: ClassVar[bool] = True


@dataclass(frozen=True)
class Report:
    """A report as a page or a folder. Nothing in it depends on the clock: the same report is the same bytes."""

    title: str
    sections: Sequence[Section]
    subtitle: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def html(self) -> str:
        """Return the page as one HTML document."""
        context = ReportContext()
        sections = _numbered(self.sections)
        parts = [(context.id(s.title) if s.title else "", s.title, s.html(context)) for s in sections]
        return context.render(
            "report.html.j2",
            report=self,
            parts=parts,
            style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
            script=Markup((TEMPLATES / "report.js").read_text(encoding="utf-8")),
            seat_colours=SEAT_COLOURS,
            provenance={
                name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                for name, value in plain(dict(self.provenance)).items()
            },
            glossary=dict(sorted(context.glossary.items(), key=lambda entry: entry[0].lower())),
            version=__version__,
        )

    def write(self, path: str | Path) -> Path:
        """One HTML file, with everything inside."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(self.html(), encoding="utf-8")
        return target

    def write_bundle(self, folder: str | Path) -> Path:
        """A folder: report.html, figures/*.svg, tables/*.csv and *.json, replays/*.json, provenance.json."""
        target = Path(folder)
        provenance = json.dumps(plain(dict(self.provenance)), ensure_ascii=False, indent=2) + "\n"
        for name, content in (_all_files(_numbered(self.sections)) | {"provenance.json": provenance}).items():
            file = target / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        self.write(target / "report.html")
        return target


@dataclass(frozen=True)
class Download:
    """A file inside the page."""

    name: str
    kind: str
    href: str

    @classmethod
    def of(cls, path: str, content: str) -> Download:
        """Return a download of this content, as a data URL."""
        kind = path.rpartition(".")[2]
        mime = {"csv": "text/csv", "json": "application/json", "svg": "image/svg+xml"}[kind]
        coded = base64.b64encode(content.encode()).decode()
        return cls(path.rpartition("/")[2], kind.upper(), f"data:{mime};base64,{coded}")


def json_island(value: Any) -> Markup:
    """JSON for a script element: no string in it can end the element or start another."""
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _numbered(sections: Sequence[Section], numbers: Iterator[int] | None = None) -> list[Section]:
    """The sections with an id for each episode that has none: its number in the report."""
    numbers = itertools.count() if numbers is None else numbers
    numbered: list[Section] = []
    for section in sections:
        if isinstance(section, ReportReplay):
            section = replace(section, episodes=[{"id": str(next(numbers))} | dict(e) for e in section.episodes])
        elif isinstance(section, Columns):
            section = replace(section, sections=_numbered(section.sections, numbers))
        numbered.append(section)
    return numbered


def _all_files(sections: Sequence[Section]) -> dict[str, str]:
    files: dict[str, str] = {}
    for section in sections:
        for path, content in section.files().items():
            if files.get(path, content) != content:
                raise InterplayError(f"two sections of the report write {path}; give one of them another name")
            files[path] = content
    return files


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "section"
