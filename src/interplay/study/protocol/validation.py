"""Checks across the parts of a study file: names that one part uses of another, texts in every language."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from interplay.study.protocol.answer_conditions import FACTS, names_in
from interplay.study.protocol.texts import missing, piped

if TYPE_CHECKING:
    from interplay.study.protocol.model import Protocol, Repeat


class Misplaced(ValueError):
    """An error between parts of the file; `place` is the id of the part whose line is named."""

    def __init__(self, message: str, place: str | None = None):
        super().__init__(message)
        self.place = place


def check_flow(protocol: Protocol) -> None:
    """Raise `Misplaced` where parts of the flow do not fit each other or the rest of the file."""
    for name, media in protocol.media.items():
        if media.game is not None and media.game not in protocol.games:
            raise Misplaced(f"media {name!r}: there is no game {media.game!r} in this study", name)
        try:
            check_spoken(media, protocol.languages, f"media {name!r}: ")
        except ValueError as error:
            raise Misplaced(str(error), name) from None
    _Checker(protocol).items(protocol.flow, (), ())


class _Checker:
    """Checks the names that the parts of a protocol use of one another."""

    def __init__(self, protocol: Protocol):
        self._protocol = protocol
        self._ids: set[str] = set()
        self._rooms: set[str] = set()  # waiting rooms so far
        self._asked: set[str] = set()  # questions so far
        self._conditional = 0  # repeats around that not everyone goes through in the same way

    def items(self, items: tuple[Any, ...], loops: tuple[str, ...], factors: tuple[str, ...]) -> None:
        """Check pages and repeats, inside repeats over the designs `loops` with the factors `factors`."""
        for item in items:
            if item.id in self._ids:
                raise Misplaced(f"two parts of the flow have the id {item.id!r}", item.id)
            self._ids.add(item.id)
            try:
                self._condition(item.when, f"{item.kind} {item.id!r}: when")
                if item.kind != "repeat":
                    self._page(item, loops, factors)
                elif item.over is not None:
                    self._loop(item, loops)
            except ValueError as error:
                raise Misplaced(str(error), item.id) from None
            if item.kind == "repeat":
                inner = (item.over,) if item.over else ()
                more = tuple(self._protocol.designs[item.over].factors) if item.over else ()
                self._conditional += item.when is not None or item.until is not None
                self.items(item.pages, loops + inner, factors + more)
                self._conditional -= item.when is not None or item.until is not None
                try:
                    self._condition(item.until, f"repeat {item.id!r}: until")
                except ValueError as error:
                    raise Misplaced(str(error), item.id) from None

    def _condition(self, condition: str | None, where: str) -> None:
        for name in sorted(names_in(condition) - FACTS - self._asked) if condition else ():
            known = ", ".join(sorted(self._asked)) or "none"
            raise ValueError(f"{where}: no question {name!r} is asked before it; there is {known}")

    def _items(self, page: Any, where: str) -> None:
        """Check what a page and its questions show and repeat, and when they are asked."""
        for name in page.media:
            _require(name, self._protocol.media, f"{where}media")
        for name in sorted(piped(page) - self._asked):
            raise ValueError(f"{where}{{answer.{name}}}: no question {name!r} is asked before it")
        for question in getattr(page, "questions", ()):
            if question.media is not None:
                _require(question.media, self._protocol.media, f"{where}question {question.id!r}: media")
            self._condition(question.when, f"{where}question {question.id!r}: when")
            self._asked.add(question.id)
        if getattr(page, "partner", None) in self._rooms and (page.when is not None or self._conditional):
            raise ValueError(f"{where}people who play together go the same way: no `when` or `until` around it")

    def _loop(self, item: Repeat, loops: tuple[str, ...]) -> None:
        assert item.over is not None
        _require(item.over, self._protocol.designs, f"repeat {item.id!r}: design")
        if item.over in loops:
            raise ValueError(f"repeat {item.id!r} is within a repeat over the same design")

    def _page(self, page: Any, loops: tuple[str, ...], factors: tuple[str, ...]) -> None:
        from interplay.study.pages.page_type import page_type  # which needs the models of this package

        scope = PageScope(self._protocol, f"page {page.id!r}: ", loops, factors, self._rooms, len(self._ids) == 1)
        page_type(page.kind).validate(page, scope)
        self._items(page, scope.where)
        check_spoken(page, self._protocol.languages, scope.where)


@dataclass(frozen=True)
class PageScope:
    """What is around a page of a study file; the checks raise a `ValueError` that names the page."""

    protocol: Protocol
    where: str  # the page, as errors name it
    loops: tuple[str, ...]  # designs of the repeats around it
    factors: tuple[str, ...]  # of those designs
    rooms: set[str]  # waiting rooms so far
    first: bool  # whether it is the first part of the flow

    def require(self, name: str, known: Collection[str], what: str) -> None:
        """Check that a name is among the known ones."""
        _require(name, known, f"{self.where}{what}")

    def require_value(self, value: str, known: Collection[str], what: str) -> None:
        """Check a name, or all values of the factor that `$NAME` stands for."""
        if not value.startswith("$"):
            self.require(value, known, what)
            return
        if value[1:] not in self.factors:
            around = ", ".join(self.factors) or "none"
            raise ValueError(f"{self.where}{what}: {value!r} is no factor of the repeats around it ({around})")
        for design in self.protocol.designs.values():
            for level in design.factors.get(value[1:], ()):
                self.require(level, known, f"{what}, factor {value[1:]!r}")

    def require_partner(self, value: str) -> None:
        """Check that a partner, or the waiting room in which one is met, is there."""
        if value not in self.rooms:
            known = [*self.protocol.partners, *([] if value.startswith("$") else sorted(self.rooms))]
            self.require_value(value, known, "partner")
            return
        for name in self.loops:
            if self.protocol.designs[name].order == "shuffle":
                raise ValueError(
                    f"{self.where}people who play together share an order: design {name!r} is latin or fixed, "
                    "not shuffled"
                )

    def open_room(self, name: str) -> None:
        """Note a waiting room, which stands outside of repeats over designs and has a name of its own."""
        if self.loops:
            around = ", ".join(self.loops)
            raise ValueError(f"{self.where}a waiting room stands outside of repeats over designs: {around}")
        if name in self.protocol.partners:
            raise ValueError(f"{self.where}a partner has the name {name!r} too: give one of them another")
        self.rooms.add(name)


def _require(name: str, known: Collection[str], what: str) -> None:
    if name not in known:
        raise ValueError(f"{what} {name!r} is not known; there is {', '.join(known) or 'none'}")


def check_spoken(part: BaseModel, languages: tuple[str, ...], where: str) -> None:
    """Raise a `ValueError` if a text of a part is missing in one of the languages."""
    for field, value in part:
        if isinstance(value, BaseModel):
            check_spoken(value, languages, f"{where}{field}: ")
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, BaseModel):
                    check_spoken(item, languages, f"{where}{field}: ")
        elif isinstance(value, dict) and (lacks := missing(value, languages)):
            raise ValueError(f"{where}{field} is not written in {', '.join(lacks)}")
