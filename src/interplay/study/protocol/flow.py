"""The pages of one participant, from the protocol and the sequences assigned at consent."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from interplay.study.pages.game import PlayPage
from interplay.study.pages.ranking import Ranking
from interplay.study.protocol.answer_conditions import holds
from interplay.study.protocol.design import Cell, count, places, sequence
from interplay.study.protocol.model import Option, Protocol, Question, Repeat

Slots = Mapping[str, int | None]  # by use of a design: the number of the sequence; None: drawn


@dataclass(frozen=True)
class Page:
    """A page in its turn of the repeats around it."""

    id: str  # the page's id after those of its repeats, with their turns: `rounds.3.game`
    item: Any
    values: Mapping[str, str]  # factors of the designs around it
    turn: int | None = None  # of the innermost repeat, from 1
    met: tuple[str, ...] = ()  # partners of the innermost repeat over partners, so far, in order
    loop: str = ""  # the innermost repeat over partners, with its turn
    when: tuple[str, ...] = ()  # conditions of the page and of the repeats around it
    ends: tuple[tuple[str, str], ...] = ()  # repeats of which a further turn begins here, and until when they go on

    @property
    def practice(self) -> bool:
        """Whether this game does not count."""
        return self.item.practice is True or (self.item.practice == "first" and self.turn == 1)

    def value(self, name: str) -> str:
        """Return the name of a setting or partner, with a factor (`$NAME`) replaced by its value on this page."""
        return self.values[name[1:]] if name.startswith("$") else name


def assign(protocol: Protocol, slots: Slots, seed: int) -> dict[str, list[Cell]]:
    """Return the cells of every use of a design, in a participant's order."""
    return {
        place.key: sequence(protocol.designs[place.design], slots.get(place.key), random.Random(f"{seed}/{place.key}"))
        for place in places(protocol)
    }


def first_slots(protocol: Protocol) -> dict[str, int | None]:
    """Return sequences for a participant who has none yet, with which pages can be counted."""
    return {p.key: 0 if count(protocol.designs[p.design]) else None for p in places(protocol)}


def pages(protocol: Protocol, slots: Slots, seed: int) -> list[Page]:
    """Return all pages of a participant, in order; `next_position` says which of them are shown."""
    all_pages: list[Page] = []
    _expand(protocol.flow, assign(protocol, slots, seed), "", {}, None, ("", ()), (), all_pages)
    return all_pages


def next_position(all_pages: Sequence[Page], position: int, facts: Mapping[str, Any]) -> int:
    """Return the place of the next page that is shown; the number of pages if there is none.

    Args:
        all_pages: The participant's pages.
        position: The place of the page that was left.
        facts: Answers and scores so far, by name.
    """
    known = {**facts, "turn": all_pages[position].turn}
    at = position + 1
    while at < len(all_pages):
        page = all_pages[at]
        over = next((key for key, until in page.ends if holds(until, known)), None)
        if over is not None:
            while at < len(all_pages) and all_pages[at].id.startswith(f"{over}."):
                at += 1
        elif all(holds(condition, known) for condition in page.when):
            return at
        else:
            at += 1
    return at


def with_partners_met(page: Page, all_pages: Sequence[Page], begun: Collection[str]) -> Page:
    """Return a page whose `met` leaves out partners of whose games in its repeat none was begun: conditions skip games.

    Args:
        page: The page.
        all_pages: The participant's pages.
        begun: Pages of the games that the participant began.
    """
    same = (p for p in takewhile(lambda p: p.id != page.id, all_pages) if p.id.startswith(f"{page.loop}."))
    before = [p for p in same if isinstance(p.item, PlayPage)]
    left_out = {p.value(p.item.partner) for p in before} - {p.value(p.item.partner) for p in before if p.id in begun}
    return replace(page, met=tuple(name for name in page.met if name not in left_out)) if left_out else page


def asked(page: Page, facts: Mapping[str, Any], submitted: Mapping[str, Any], seed: int) -> list[Question]:
    """Return the questions of a form or quiz that are asked, in the order in which this participant sees them.

    Args:
        page: The page.
        facts: Answers and scores before it, by name.
        submitted: What was answered on the page itself.
        seed: The participant's seed, which draws the order.
    """
    known = {**facts, "turn": page.turn}
    active = []
    for question in page.item.questions:
        if holds(question.when, known):
            active.append(question)
            known[question.id] = submitted.get(question.id)
        else:
            known[question.id] = None
    return [question for question in ordered(page, seed) if question in active]


def ordered(page: Page, seed: int) -> list[Question]:
    """Return all questions of a page in the order in which this participant sees them."""
    questions = list(page.item.questions)
    if getattr(page.item, "shuffle", False):
        random.Random(f"{seed}/{page.id}/questions").shuffle(questions)
    return questions


def options(page: Page, question: Question, seed: int) -> list[Option]:
    """Return the options of a question in the order in which this participant sees them."""
    chosen = list(question.options)
    if question.shuffle:
        random.Random(f"{seed}/{page.id}/{question.id}").shuffle(chosen)
        chosen.sort(key=lambda option: option.last)
    return chosen


def _expand(
    items: Any,
    cells: Mapping[str, list[Cell]],
    outer: str,
    values: Cell,
    turn: int | None,
    met: tuple[str, tuple[str, ...]],
    when: tuple[str, ...],
    all_pages: list[Page],
) -> None:
    for item in items:
        only = (*when, item.when) if item.when is not None else when
        if not isinstance(item, Repeat):
            # A ranking after a repeat ranks all partners that were met in it.
            after = _met_in(item, all_pages, outer) if isinstance(item, Ranking) and not met[1] else met
            all_pages.append(Page(f"{outer}{item.id}", item, values, turn, after[1], after[0], only))
            continue
        key = f"{outer}{item.id}"
        rows: list[Cell] = cells[key] if item.over is not None else [{} for _ in range(item.times or 0)]
        known: tuple[str, ...] = ()
        for number, row in enumerate(rows, start=1):
            inner = met
            if "partner" in row:
                known = known if row["partner"] in known else (*known, row["partner"])
                inner = (key, known)
            first = len(all_pages)
            _expand(item.pages, cells, f"{key}.{number}.", {**values, **row}, number, inner, only, all_pages)
            if item.until is not None and number > 1:
                begin = all_pages[first]
                all_pages[first] = replace(begin, ends=((key, item.until), *begin.ends))


def _met_in(item: Ranking, all_pages: list[Page], outer: str) -> tuple[str, tuple[str, ...]]:
    before = [page for page in all_pages if page.met and page.id.startswith(outer)]
    return (before[-1].loop, before[-1].met) if before else ("", ())


def partners_of(protocol: Protocol, all_pages: list[Page]) -> list[str]:
    """Return the partners of all games, in the order in which they are met."""
    games = (page for page in all_pages if isinstance(page.item, PlayPage))
    return list(dict.fromkeys(page.value(page.item.partner) for page in games))
