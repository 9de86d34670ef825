"""Run all analyses that a study file names on the records of the study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from interplay.errors import InterplayError
from interplay.games.registry import scoring
from interplay.stats.multiple_testing import over_everything
from interplay.study.analysis.analysis_list import MEASURES, default_plan
from interplay.study.analysis.button_presses import click
from interplay.study.analysis.data import Data, gather
from interplay.study.analysis.exclusion import gaps, people_tables, sort_people, stopped
from interplay.study.analysis.familiarity import familiar
from interplay.study.analysis.interdependence import help_in_teams
from interplay.study.analysis.measures import Measured
from interplay.study.analysis.preferences import prefer
from interplay.study.analysis.preregistration import departures
from interplay.study.analysis.ranks import rank
from interplay.study.analysis.ratings import one_sample, paired, rate, reliability
from interplay.study.analysis.regress import regress
from interplay.study.analysis.result import AnalysisResult
from interplay.study.protocol.model import Protocol
from interplay.table import Table

if TYPE_CHECKING:
    from interplay.study.db.records import Records


@dataclass(frozen=True)
class Findings:
    """The results of all analyses. `data` has everyone; only those who are in were analysed."""

    data: Data
    results: tuple[AnalysisResult, ...]  # the first says who is in
    without: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tests: int = 0  # all that are on the page
    plan: tuple[Any, ...] = ()  # the analyses that were run

    @property
    def table(self) -> Table:
        """Every row of every table, with the names of its analysis and table."""
        rows = [
            {"analysis": result.id, "table": name, **row}
            for result in self.results
            for name, table in result.tables.items()
            for row in table
        ]
        return Table.of(rows, f"Analysis of {self.data.protocol.name}")


def analyse(
    records: Records,
    *,
    study: Protocol | None = None,
    without: Sequence[str] = (),
    objective: Table | None = None,
    preregistration: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda what: None,
) -> Findings:
    """Run the analyses that a study's file names.

    Args:
        records: The records of the study.
        study: The file whose analyses are run; None for the file as it was when people took part.
        without: Partners without which every analysis is repeated, as if they had not been met.
        objective: Measures of agents from elsewhere: agent, measure, value, and game where they belong to one.
        preregistration: The plan that the analysis is checked against (`preregistration.read`).
        seed: Seed of resampling.
        progress: Called with the title of each analysis.

    Raises:
        InterplayError: Nobody is in the analysis, or the file or the measures do not fit the records.
    """
    notes = []
    if study is not None:
        notes += _other_file(records.protocol, study)
        records = replace(records, protocol=study)
    plan = records.protocol.analysis
    if not plan:
        plan = default_plan(records.protocol)
        notes.append(
            "the study file names no analyses, so these are the usual ones; `analysis:` in the file names others"
        )
    check_objective(objective)
    notes += _unknown_measures(objective, records.protocol)
    rule = next((part for part in plan if part.kind == "exclude"), None)
    sums = [part for part in plan if part.kind == "scale"]
    data = replace(sort_people(gather(records), rule), sums={part.id: part for part in sums})
    if not any(row["included"] for row in data.people):
        who = people_tables(data)
        reasons = "; ".join(f"{row['people']} {row['what']}" for row in who[0]) or "nobody has come yet"
        raise InterplayError(f"nobody is in the analysis of {records.protocol.name}: {reasons}")
    samples = {"all": data}
    if without:
        samples[f"without {', '.join(without)}"] = data.without(without)
    measured = Measured(data)
    results = [_people(data, sums, seed)]
    if preregistration is not None:
        extra = [*(f"--without {name}" for name in without), *(["--objective"] if objective is not None else [])]
        results.append(_departures(preregistration, records, plan, data, extra))
    for part in plan:
        if part.kind in ("exclude", "scale"):
            continue
        progress(part.title or part.id)
        made = {name: _analyse_part(sample, part, measured, objective, seed) for name, sample in samples.items()}
        results.append(_merged(made))
    results, tests = _over_everything(_with_scoring(results, records.protocol))
    if tests:
        notes.append(f"{tests} tests are on this page; p (all) is Holm's correction over every one of them")
    return Findings(data, tuple(results), tuple(without), tuple(notes), tests, tuple(plan))


def _with_scoring(results: Sequence[AnalysisResult], study: Protocol) -> list[AnalysisResult]:
    """Return results whose tables of scores say how the games were scored, where a game's options decide that."""
    rules = {name: scoring(setting.game, setting.options) for name, setting in study.games.items()}
    rules = {name: rule["scoring"] for name, rule in rules.items() if rule}
    if not rules:
        return list(results)
    same = len(set(rules.values())) == 1 and len(rules) == len(study.games)
    said = next(iter(rules.values())) if same else "; ".join(f"{name}: {rule}" for name, rule in rules.items())

    def is_of_scores(table: Table) -> bool:
        measures = {row.get(c) for row in table for c in ("measure", "metric", "outcome")}
        return any(c == "score" or c.startswith("score_") for c in table.columns) or "score" in measures

    return [
        replace(r, tables={n: replace(t, title=f"{t.title} ({said})") if is_of_scores(t) else t
                           for n, t in r.tables.items()})
        for r in results
    ]  # fmt: skip


def _over_everything(results: Sequence[AnalysisResult]) -> tuple[list[AnalysisResult], int]:
    """Return results whose tables have p corrected over all tests of all analyses, and how many those are."""
    named = {f"{number} {name}": table for number, r in enumerate(results) for name, table in r.tables.items()}
    corrected, tests = over_everything(named)
    return [
        replace(result, tables={name: corrected[f"{number} {name}"] for name in result.tables})
        for number, result in enumerate(results)
    ], tests


def _departures(
    content: Mapping[str, Any], records: Records, plan: Sequence[Any], data: Data, extra: Sequence[str]
) -> AnalysisResult:
    analysed = sum(bool(row["included"]) for row in data.people)
    table = departures(content, records, plan, analysed, extra)
    about = f"Registered {content['created']}, SHA-256 {content['sha256']}."
    hypotheses = tuple(f"hypothesis: {text}" for text in content["hypotheses"])
    notes = (*hypotheses, f"{len(table)} departures" if len(table) else "nothing departs from the plan")
    return AnalysisResult("preregistration", "Pre-registration", {"departures": table}, about=about, notes=notes)


def _analyse_part(data: Data, part: Any, measured: Measured, objective: Table | None, seed: int) -> AnalysisResult:
    match part.kind:
        case "ratings":
            return rate(data, part)
        case "one_sample":
            return one_sample(data, part)
        case "paired":
            return paired(data, part)
        case "ranks":
            return rank(data, part, objective, seed=seed)
        case "regression":
            return regress(data, part, measured, objective, seed)
        case "clicks":
            return click(data, part, seed=seed)
        case "preferences":
            return prefer(data, part, seed=seed)
        case "familiarity":
            return familiar(data, part)
        case "interdependence":
            return help_in_teams(data, part, measured, seed=seed)
    raise InterplayError(f"there is no analysis of the kind {part.kind!r}")


def _people(data: Data, sums: Sequence[Any], seed: int) -> AnalysisResult:
    counted, each = people_tables(data)
    tables = {"counts": counted, "people": each, "missing": gaps(data)}
    left = stopped(data)
    if len(left):
        tables["stopped"] = left
    if sums:
        tables["alpha"], tables["items"] = reliability(data, sums, seed)
    many = sum(row["people"] for row in left)
    notes = (f"{many} stopped taking part, which people may at any time",) if many else ()
    about = "Only those who are in are analysed below; everyone who ever came is listed here."
    return AnalysisResult("people", "Who took part", tables, notes=notes, about=about)


def _merged(made: Mapping[str, AnalysisResult]) -> AnalysisResult:
    """Return one result of all samples: their rows one after the other, the figures of the first."""
    first = next(iter(made.values()))
    if len(made) == 1:
        return first
    names = dict.fromkeys(name for result in made.values() for name in result.tables)
    tables = {}
    for name in names:
        parts = {sample: result.tables[name] for sample, result in made.items() if name in result.tables}
        rows = [{"sample": sample, **row} for sample, table in parts.items() for row in table]
        tables[name] = Table.of(rows, next(iter(parts.values())).title)
    notes = dict.fromkeys(note for result in made.values() for note in result.notes)
    return replace(first, tables=tables, notes=tuple(notes))


def _other_file(served: Protocol, chosen: Protocol) -> list[str]:
    if served.name != chosen.name:
        raise InterplayError(f"--study is of {chosen.name!r}, and the records are of {served.name!r}")
    if served.hash != chosen.hash:
        return ["the study file given is not the one that people took part in; answers to what it lacks are not used"]
    if served.analysis and served.analysis != chosen.analysis:
        return ["the analyses are not those that the file named when the study began"]
    return []


def _unknown_measures(objective: Table | None, study: Protocol) -> list[str]:
    """Return a note on measures of agents or games that the study does not have."""
    agents = {*study.partners, *study.partners.values()}
    games = {None, "", *study.games, *(setting.game for setting in study.games.values())}
    rows = objective.rows if objective is not None else []
    strange = [row for row in rows if row["agent"] not in agents or row.get("game") not in games]
    if not strange:
        return []
    first = " in ".join(str(strange[0][name]) for name in ("agent", "game") if strange[0].get(name))
    message = f"{len(strange)} of {len(rows)} measures are of agents or games that this study does not have"
    return [f"{message}, the first of {first}"]


def check_objective(table: Table | None) -> None:
    """Raise an `InterplayError` if measures from elsewhere cannot be read."""
    if table is None:
        return
    for name in ("agent", "measure", "value"):
        if name not in table.columns:
            raise InterplayError(f"the table of measures has no column {name!r}; it has {', '.join(table.columns)}")
    for place, row in enumerate(table, start=1):
        try:
            fine = row["value"] is None or float(row["value"]) == float(row["value"])
        except (TypeError, ValueError):
            fine = False
        if not fine:
            raise InterplayError(f"row {place} of the table of measures: {row['value']!r} is not a number")
        if row["measure"] in MEASURES:
            known = f"{row['measure']!r} is what a game of the study is measured by"
            raise InterplayError(f"row {place} of the table of measures: {known}; give it another name")
