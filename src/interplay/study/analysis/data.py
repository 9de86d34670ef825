"""A study as plain tables: who took part, what was answered about whom, what was ranked, what was played.

`protocol.answer_subjects` says which partner an answer is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from interplay.errors import InterplayError
from interplay.study.analysis.analysis_list import Sum, pages
from interplay.study.protocol.answer_subjects import is_near
from interplay.study.protocol.model import Protocol, Question
from interplay.table import Row, Table
from interplay.traces import TraceSet

if TYPE_CHECKING:
    from interplay.study.db.records import Records

PEOPLE = ("person", "status", "stopped_on", "language", "included", "why")
ANSWERS = ("person", "page", "form", "question", "value", "partner", "game", "first", "second", "turn", "seconds")
RANKINGS = ("person", "page", "form", "game", "order")
GAMES = (
    "number", "person", "page", "game", "partner", "seat", "practice", "done", "score", "length", "turn", "episode",
    "unattended",
)  # fmt: skip
FLAGS = ("number", "person", "flag", "seen")


@dataclass(frozen=True)
class Data:
    """Everything that an analysis reads. A game's `episode` is its number among the traces."""

    protocol: Protocol
    people: Table
    answers: Table
    rankings: Table
    games: Table
    flags: Table
    traces: TraceSet | None = field(repr=False)
    sums: Mapping[str, Sum] = field(default_factory=dict)  # scales of several questions, by name
    notes: tuple[str, ...] = ()  # what of the records could not be used, and why

    @cached_property
    def questions(self) -> dict[str, Question]:
        """All questions of forms, by id."""
        return {q.id: q for page in pages(self.protocol) if page.kind == "form" for q in page.questions}

    @property
    def partners(self) -> list[str]:
        """The partners of the study file, then waiting rooms whose participants a game was played with."""
        met = (row["partner"] for row in self.games if row["partner"] is not None)
        return list(dict.fromkeys([*self.protocol.partners, *met]))

    @property
    def colours(self) -> dict[str, int]:
        """The number of each partner's colour, the same in every figure."""
        return {partner: number for number, partner in enumerate(self.partners)}

    def of_people(self, chosen: Iterable[str]) -> Data:
        """Return the data of some participants only."""
        kept = set(chosen)

        def select(table: Table) -> Table:
            return Table(table.columns, [row for row in table if row["person"] in kept], table.title)

        return replace(
            self, people=select(self.people), answers=select(self.answers), rankings=select(self.rankings),
            games=select(self.games), flags=select(self.flags),
        )  # fmt: skip

    def without(self, agents: Sequence[str]) -> Data:
        """Return the data as if these partners had never been met: their games and ratings go, ranks close up.

        Raises:
            InterplayError: The study has no such partner.
        """
        for name in agents:
            if name not in self.partners:
                known = ", ".join(self.partners)
                raise InterplayError(f"--without {name}: this study has no such partner; it has {known}")
        gone = set(agents)
        games = [row for row in self.games if row["partner"] not in gone]
        here = {row["number"] for row in games}
        answers = [row for row in self.answers if not gone & {row["partner"], row["first"], row["second"]}]
        rankings = [
            {**row, "order": [partner for partner in row["order"] if partner not in gone]} for row in self.rankings
        ]
        flags = [row for row in self.flags if row["number"] in here]
        return replace(
            self, games=Table(GAMES, games), answers=Table(ANSWERS, answers), rankings=Table(RANKINGS, rankings),
            flags=Table(FLAGS, flags),
        )  # fmt: skip

    def attended(self, most: float) -> Data:
        """Return the data without games of which more than this share of the steps was not seen by the participant.

        Answers about such a game go with it. Where it is not known what was seen, the game stays.
        """
        unseen = [row for row in self.games if (row["unattended"] or 0) > most * (row["length"] or 0)]
        if not unseen:
            return self
        gone = {row["number"] for row in unseen}
        pages = {(row["person"], row["page"]) for row in unseen}
        answers = [
            row for row in self.answers
            if "." not in row["page"]  # about the whole study
            or not any(person == row["person"] and is_near(row["page"], page) for person, page in pages)
        ]  # fmt: skip
        lost = len(self.answers) - len(answers)
        note = f"{len(gone)} games were left out, of which more than {most:.0%} was not seen, with {lost} answers"
        return replace(
            self, games=Table(GAMES, [row for row in self.games if row["number"] not in gone]),
            flags=Table(FLAGS, [row for row in self.flags if row["number"] not in gone]),
            answers=Table(ANSWERS, answers), notes=(*self.notes, note),
        )  # fmt: skip

    def counted(self) -> Table:
        """Return the games that count and were played to their end."""
        return Table(GAMES, [row for row in self.games if row["done"] and not row["practice"]])

    def ratings(self, name: str) -> Table:
        """Return one row for each answer to a question or, summed, to the questions of a scale.

        The columns are person, page, partner, game, turn, first, second and value. Answers left out are not in it, nor
        sums that lack one of their answers.
        """
        kept = ("person", "page", "partner", "game", "turn", "first", "second", "value")
        if name not in self.sums:
            rows = [{k: r[k] for k in kept} for r in self.answers if r["question"] == name and r["value"] is not None]
            return Table(kept, rows, self.label(name))
        whole = self.sums[name]
        totals: list[Row] = []
        for part in self.answers.groups("person", "page").values():
            values = {row["question"]: row["value"] for row in part if row["question"] in whole.of}
            if len(values) == len(whole.of) and None not in values.values():
                points = [self._from_zero(q, values[q], q in whole.reverse) for q in whole.of]
                totals.append({**{k: part.rows[0][k] for k in kept[:-1]}, "value": sum(points)})
        return Table(kept, totals, self.label(name))

    def _from_zero(self, question: str, value: float, turned: bool) -> float:
        return self.points(question) - value if turned else value - 1

    def points(self, question: str) -> int:
        """Return how many points a question's scale has; 0 without a scale."""
        scale = self.questions[question].scale
        return self.protocol.scales[scale].points if scale else 0

    def bounds(self, name: str) -> tuple[float, float] | None:
        """Return the least and the largest value of a rating; None for a question without a scale."""
        if name in self.sums:
            return 0.0, float(sum(self.points(q) - 1 for q in self.sums[name].of))
        question = self.questions[name]
        if question.type == "slider" and question.min is not None and question.max is not None:
            return question.min, question.max
        return (1.0, float(self.points(name))) if self.points(name) else None

    def middle(self, name: str) -> float | None:
        """Return the middle of a rating's scale; None without a scale."""
        ends = self.bounds(name)
        return None if ends is None else (ends[0] + ends[1]) / 2

    def label(self, name: str) -> str:
        """Return the text of a question or the title of a scale."""
        if name in self.sums:
            return self.sums[name].title or name
        text = self.questions[name].label
        return text if isinstance(text, str) else text.get("en") or next(iter(text.values()))


def gather(records: Records) -> Data:
    """Return the tables of a study's records, each answer with the partner and game that it is about."""
    protocol = records.protocol
    kinds = {page.id: page.kind for page in pages(protocol)}
    played = _in_turn(records.games)
    asked: list[Row] = []
    ranked: list[Row] = []
    strange = 0
    for answer in records.answers:
        kind, person, page = kinds.get(answer["item"]), answer["participant"], answer["page"]
        base = {"person": person, "page": page, "form": answer["item"]}
        strange += kind is None
        if kind == "ranking":
            ranked.append({**base, "game": answer["setting"], "order": list(answer["value"])})
        elif kind == "form":
            about = {"game": answer["setting"], "turn": answer["counted"]}
            copied = ("partner", "first", "second", "question", "value", "seconds")
            asked.append({**base, **about, **{name: answer[name] for name in copied}})
    notes = (f"{strange} answers are to pages that the study file does not have",) if strange else ()
    members = [
        {
            "person": r["participant"],
            "status": _status(r),
            "stopped_on": r["stopped_on"],
            "language": r["language"],
            "included": True,
            "why": None,
        }
        for r in records.participants
    ]
    flags = [
        {"number": r["game"], "person": r["participant"], "flag": r["flag"], "seen": r["seen"]} for r in records.flags
    ]
    return Data(
        protocol, Table.of(members, "People", PEOPLE), Table.of(asked, "Answers", ANSWERS),
        Table.of(ranked, "Rankings", RANKINGS), Table.of(played, "Games", GAMES), Table.of(flags, "Flags", FLAGS),
        records.traces, notes=notes,
    )  # fmt: skip


def _status(person: Row) -> str:
    """Return a participant's status; those who withdrew before the consent never took part."""
    return "declined" if person["status"] == "withdrawn" and person["consented"] is None else person["status"]


def _in_turn(games: Table) -> list[Row]:
    """Return games with their place among the participant's games that count, from 1, in the order of beginning."""
    turns: dict[str, int] = {}
    rows = []
    for row in games:
        person = row["participant"]
        if not row["practice"]:
            turns[person] = turns.get(person, 0) + 1
        rows.append(
            {
                "number": row["game"],
                "person": person,
                "page": row["page"],
                "game": row["setting"],
                "partner": row["partner"],
                "seat": row["seat"],
                "practice": row["practice"],
                "done": row["status"] == "done",
                "score": row["score"],
                "length": row["length"],
                "turn": None if row["practice"] else turns[person],
                "episode": row["episode"],
                "unattended": row["unattended"],
            }
        )
    return rows


def near_games(page: str, games: Sequence[Row]) -> list[Row]:
    """Return, of a participant's games, those that count in the same turn of the repeats around a page."""
    return [g for g in games if not g["practice"] and is_near(page, g["page"])]
