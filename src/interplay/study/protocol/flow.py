"""The pages of one person, from the protocol and what was assigned at consent."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interplay.study.protocol.design import Cell, places, sequence
from interplay.study.protocol.model import PlayPage, Protocol, Ranking, Repeat

Slots = Mapping[str, int | None]  # by key of a design's use: the sequence that was assigned


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
        return self.item.practice is True or (self.item.practice == "first" and self.turn == 1)

    def value(self, name: str) -> str:
        """A setting's or partner's name, a factor replaced by its present value."""
        return self.values[name[1:]] if name.startswith("$") else name


def assign(protocol: Protocol, slots: Slots, seed: int) -> dict[str, list[Cell]]:
    """The cells of every use of a design, in this person's order."""
    return {
        place.key: sequence(protocol.designs[place.design], slots.get(place.key), random.Random(f"{seed}/{place.key}"))
        for place in places(protocol)
    }


def first_slots(protocol: Protocol) -> dict[str, int | None]:
    """Slots for those who have none yet, to count pages with."""
    from interplay.study.protocol.design import count

    return {p.key: 0 if count(protocol.designs[p.design]) else None for p in places(protocol)}


def pages(protocol: Protocol, slots: Slots, seed: int) -> list[Page]:
    """All pages, in order."""
    found: list[Page] = []
    _expand(protocol.flow, assign(protocol, slots, seed), "", {}, None, ("", ()), found)
    return found


def _expand(
    items: Any,
    cells: Mapping[str, list[Cell]],
    outer: str,
    values: Cell,
    turn: int | None,
    met: tuple[str, tuple[str, ...]],
    found: list[Page],
) -> None:
    for item in items:
        if not isinstance(item, Repeat):
            # A ranking after the repeat ranks all that were met in it.
            after = _met_in(item, found, outer) if isinstance(item, Ranking) and not met[1] else met
            found.append(Page(f"{outer}{item.id}", item, values, turn, after[1], after[0]))
            continue
        key = f"{outer}{item.id}"
        rows: list[Cell] = cells[key] if item.over is not None else [{} for _ in range(item.times or 0)]
        known: tuple[str, ...] = ()
        for number, row in enumerate(rows, start=1):
            inner = met
            if "partner" in row:
                known = known if row["partner"] in known else (*known, row["partner"])
                inner = (key, known)
            _expand(item.pages, cells, f"{key}.{number}.", {**values, **row}, number, inner, found)


def _met_in(item: Ranking, found: list[Page], outer: str) -> tuple[str, tuple[str, ...]]:
    before = [page for page in found if page.met and page.id.startswith(outer)]
    return (before[-1].loop, before[-1].met) if before else ("", ())


def partners_of(protocol: Protocol, all_pages: list[Page]) -> list[str]:
    """The partners of all games, in the order in which they are met."""
    games = (page for page in all_pages if isinstance(page.item, PlayPage))
    return list(dict.fromkeys(page.value(page.item.partner) for page in games))
