"""An analysis as an HTML report, and its tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interplay.reports.document import Group, KeyNumber, KeyNumbers, Report, Section, TableSection, Text
from interplay.study.analysis.result import WITHHELD, AnalysisResult
from interplay.study.analysis.run import Findings
from interplay.study.protocol.texts import say
from interplay.table import Row, Table

LABELS = {
    "p_holm": "p (Holm)", "p_within": "p within", "p_within_holm": "p within (Holm)", "p_wilcoxon": "p (Wilcoxon)",
    "w": "W", "chi2": "χ²", "d": "d", "dz": "dz", "p_bonferroni": "p corrected", "p_agents": "p over agents",
    "per_100_moves": "per 100 moves", "f": "F", "bf10": "Bayes factor", "p_equivalent": "p equivalent",
    "p_not_worse": "p not worse", "p_all": "p (all)", "p_within_all": "p within (all)",
    "p_wilcoxon_all": "p Wilcoxon (all)", "p_agents_all": "p over agents (all)", "df_within": "df within",
}  # fmt: skip
P_DIGITS = 4


def report(findings: Findings, *, source: str = "", seed: int = 0) -> Report:
    """Return the report of an analysis: who took part, then every analysis with its figures, tables and notes."""
    data = findings.data
    study = data.protocol
    sections: list[Section] = [KeyNumbers(_numbers(findings))]
    sections.append(Text("\n".join(f"- {note}" for note in (*findings.notes, WITHHELD))))
    if findings.without:
        names = ", ".join(findings.without)
        sections.append(Text(f"Every table holds two samples: all partners, and *without {names}*. Figures show all."))
    sections += [_section(result) for result in findings.results]
    provenance: dict[str, Any] = {"study": study.name, "file": study.hash, "source": source, "seed": seed}
    return Report(f"Analysis: {say(study.title, 'en')}", sections, study.name, provenance)


def _numbers(findings: Findings) -> list[KeyNumber]:
    data = findings.data
    inside = sum(bool(row["included"]) for row in data.people)
    counted = data.counted()
    answered = sum(row["value"] is not None for row in data.answers)
    return [
        KeyNumber("people analysed", str(inside), f"of {len(data.people)} who came"),
        KeyNumber("games that count", str(len(counted)), f"{sum(r['practice'] for r in data.games)} for practice"),
        KeyNumber("answers", str(answered)),
        KeyNumber("presses of buttons", str(len(data.flags))),
    ]


def _section(result: AnalysisResult) -> Section:
    parts: list[Section] = []
    if result.about:
        parts.append(Text(result.about))
    if result.notes:
        parts.append(Text("\n".join(f"- {note}" for note in result.notes)))
    parts += list(result.figures)
    parts += [_table(f"{result.id} {name}", table) for name, table in result.tables.items() if len(table)]
    return Group(parts, result.title)


def _table(name: str, table: Table) -> TableSection:
    """Return a table as a section: columns without any value are hidden, notes on single rows stand above it."""
    empty = [c for c in table.columns if all(row[c] is None for row in table)]
    first = [c for c in table.columns[:3] if c != "note" and isinstance(table.rows[0][c], str)]
    by_note: dict[str, list[str]] = {}
    for row in table:
        if row.get("note"):
            by_note.setdefault(row["note"], []).append(" ".join(str(row[c]) for c in first if row[c] is not None))
    caption = ". ".join(f"{', '.join(rows)}: {note}" for note, rows in by_note.items())
    return TableSection(
        table, table.title, caption, name, labels=LABELS, hide=[*empty, "note"], digits=_digits(table.columns)
    )


def _digits(columns: Iterable[str]) -> dict[str, int]:
    shares = ("share", "first", "last", "alpha", "w")
    digits = {name: P_DIGITS for name in columns if name == "p" or name.startswith("p_") or name.endswith("_p")}
    return (
        digits
        | {name: 2 for name in columns if name in shares}
        | {name: 0 for name in columns if name in ("df", "df_within", "df2")}
    )


DETAIL = ("spread", "ordered", "items", "turns", "by_partner", "by_question")  # long tables, on the page and in JSON


def screen_tables(result: AnalysisResult) -> list[Table]:
    """Return the tables that fit a terminal, without long ones; of participants only those who are out."""
    tables = []
    for name, table in result.tables.items():
        if result.id == "people" and name == "people":
            table = Table(table.columns, [row for row in table if not row["in"]], "Who is out")
        if name not in DETAIL and len(table):
            tables.append(on_screen(table))
    return tables


def on_screen(table: Table) -> Table:
    """Return a table with estimates and their intervals in one cell, and small p as such."""
    limits = {c for c in table.columns if c.endswith(("_low", "_high")) and c.rpartition("_")[0] in table.columns}
    rows = []
    for row in table:
        rows.append({name: _format_cell(row, name) for name in table.columns if name not in limits})
    return Table.of(rows, table.title)


def _format_cell(row: Row, name: str) -> Any:
    value = row[name]
    if isinstance(value, float) and (name == "p" or name.startswith("p_") or name.endswith("_p")):
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    if isinstance(value, float) and row.get(f"{name}_low") is not None:
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        return f"{value:.3g} [{low:.3g}, {high:.3g}]"
    return float(f"{value:.3g}") if isinstance(value, float) and abs(value) < 1000 else value
