"""The pages of one participant, from the protocol and the sequences assigned at consent."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interplay.study.pages.game import PlayPage
from interplay.study.pages.ranking import Ranking
from interplay.study.protocol.design import Cell, count, places, sequence
from interplay.study.protocol.model import Protocol, Repeat

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
    """Return all pages of a participant, in order."""
    all_pages: list[Page] = []
    _expand(protocol.flow, assign(protocol, slots, seed), "", {}, None, ("", ()), all_pages)
    return all_pages


def _expand(
    items: Any,
    cells: Mapping[str, list[Cell]],
    outer: str,
    values: Cell,
    turn: int | None,
    met: tuple[str, tuple[str, ...]],
    all_pages: list[Page],
) -> None:
    for item in items:
        if not isinstance(item, Repeat):
            # A ranking after a repeat ranks all partners that were met in it.
            after = _met_in(item, all_pages, outer) if isinstance(item, Ranking) and not met[1] else met
            all_pages.append(Page(f"{outer}{item.id}", item, values, turn, after[1], after[0]))
            continue
        key = f"{outer}{item.id}"
        rows: list[Cell] = cells[key] if item.over is not None else [{} for _ in range(item.times or 0)]
        known: tuple[str, ...] = ()
        for number, row in enumerate(rows, start=1):
            inner = met
            if "partner" in row:
                known = known if row["partner"] in known else (*known, row["partner"])
                inner = (key, known)
            _expand(item.pages, cells, f"{key}.{number}.", {**values, **row}, number, inner, all_pages)


def _met_in(item: Ranking, all_pages: list[Page], outer: str) -> tuple[str, tuple[str, ...]]:
    before = [page for page in all_pages if page.met and page.id.startswith(outer)]
    return (before[-1].loop, before[-1].met) if before else ("", ())


def partners_of(protocol: Protocol, all_pages: list[Page]) -> list[str]:
    """Return the partners of all games, in the order in which they are met."""
    games = (page for page in all_pages if isinstance(page.item, PlayPage))
    return list(dict.fromkeys(page.value(page.item.partner) for page in games))
