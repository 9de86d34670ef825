"""How a domain is written: a few lines of text, read into a frozen `Domain`.

    types chef counter
    types onion dish - item                     # PDDL's way: subtypes - parent
    agents chef                                 # the types that act
    channel counters default                    # a way by which things change hands
    fact holding(chef, item*) holds             # * marks the object that the fact is about
    fact on(item*, counter) via counters
    fact clear(counter)                         # about no object: a circumstance
    action put_down(c: chef, i: item, k: counter)
      needs holding(c, i), clear(k)
      adds on(i, k)
      drops holding(c, i), clear(k)
    goal served(soup)

`action` is a sub-task, `move` is not, `event` is nature's own doing. `holds` says that the agent has the object,
`state` that the fact belongs to the object's state (a usage-linked attribute), `via` that it is handed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from interplay.errors import InterplayError

KINDS = ("action", "move", "event")
_NAME = r"[A-Za-z][A-Za-z0-9_-]*"
_HEAD = re.compile(rf"^({_NAME})\s*(?:\(([^()]*)\))?\s*(.*)$")
_ATOM = re.compile(rf"\s*({_NAME})\s*\(([^()]*)\)\s*(?:,|$)|\s*({_NAME})\s*(?:,|$)")
_FIELDS = {"needs": "preconditions", "adds": "add_effects", "drops": "delete_effects"}  # keyword -> field of Operator
_WORDS = {"types", "agents", "channel", "fact", *KINDS, *_FIELDS, "goal"}


def is_below(parents: dict[str, str | None], kind: str | None, ancestor: str) -> bool:
    """Return whether a type is another one, or below it, by each type's parent."""
    while kind is not None and kind != ancestor:
        kind = parents[kind]
    return kind is not None


class DomainError(InterplayError):
    """A domain that contradicts itself, or a trace that contradicts its domain."""


@dataclass(frozen=True)
class Predicate:
    """A kind of fact. `about` is the index of the argument that it is about; None for a mere circumstance."""

    name: str
    types: tuple[str, ...]
    about: int | None = None
    holds: bool = False
    state: bool = False
    channel: str | None = None
    line: int = 0


@dataclass(frozen=True)
class Atom:
    """A predicate with the names of an operator's parameters."""

    predicate: str
    variables: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.variables)})"


@dataclass(frozen=True)
class Operator:
    """An operator with parameters: preconditions, add effects and delete effects."""

    name: str
    kind: str  # one of KINDS
    parameters: tuple[tuple[str, str], ...]  # (variable, type)
    preconditions: tuple[Atom, ...] = ()
    add_effects: tuple[Atom, ...] = ()
    delete_effects: tuple[Atom, ...] = ()
    line: int = 0


@dataclass(frozen=True)
class Domain:
    """The facts of a world, and the operators of its agents."""

    name: str
    parents: dict[str, str | None]  # type -> its parent
    agents: tuple[str, ...]  # the types that act
    channels: dict[str, bool]  # name -> counted by default
    predicates: dict[str, Predicate]
    operators: dict[str, Operator]
    goals: tuple[str, ...]  # predicates
    text: str = field(repr=False, default="")

    def is_a(self, kind: str | None, ancestor: str) -> bool:
        """Return whether a type is another one, or below it."""
        return is_below(self.parents, kind, ancestor)

    @property
    def default_channels(self) -> tuple[str, ...]:
        """The channels that are counted by default."""
        return tuple(name for name, default in self.channels.items() if default)


class _Reader:
    """Reads line by line, so that every error can name its line."""

    def __init__(self, name: str, text: str):
        self.name, self.lines = name, text.splitlines()
        self.number = 0
        self.parents: dict[str, str | None] = {}
        self.agents: list[str] = []
        self.channels: dict[str, bool] = {}
        self.predicates: dict[str, Predicate] = {}
        self.operators: dict[str, Operator] = {}
        self.goals: dict[str, int] = {}
        self.current: dict | None = None

    def fail(self, why: str, number: int | None = None) -> DomainError:
        number = self.number if number is None else number
        return DomainError(f"domain {self.name!r}, line {number}: `{self.lines[number - 1].strip()}`: {why}")

    def read(self) -> Domain:
        for number, raw in enumerate(self.lines, start=1):
            self.number = number
            word, _, rest = raw.split("#")[0].strip().partition(" ")
            if not word:
                continue
            if word not in _WORDS:
                raise self.fail(f"a line begins with one of {', '.join(sorted(_WORDS))}, not with {word!r}")
            if word in _FIELDS:
                self.effects(word, rest)
                continue
            self.close()
            if word in KINDS:
                self.operator(word, rest)
            else:
                {
                    "types": self.types,
                    "agents": self.acting,
                    "channel": self.channel,
                    "fact": self.fact,
                    "goal": self.goal,
                }[word](rest)
        self.close()
        return self.checked()

    def types(self, rest: str) -> None:
        names, dash, parent = rest.partition(" - ")
        parent = parent.strip() if dash else None
        if parent is not None:
            self.parents.setdefault(parent, None)
        for name in re.split(r"[\s,]+", names.strip()):
            if not re.fullmatch(_NAME, name):
                raise self.fail(f"{name!r} is no name of a type")
            if self.parents.get(name):
                raise self.fail(f"the type {name!r} is declared twice")
            self.parents[name] = parent

    def acting(self, rest: str) -> None:
        for name in re.split(r"[\s,]+", rest.strip()):
            self.agents.append(self.type(name))

    def channel(self, rest: str) -> None:
        name, *flags = rest.split()
        if flags not in ([], ["default"]):
            raise self.fail(f"a channel may only be called default, not {' '.join(flags)!r}")
        self.channels[name] = bool(flags)

    def type(self, name: str) -> str:
        if name not in self.parents:
            raise self.fail(f"no type {name!r} is declared above; there are {', '.join(self.parents) or 'none'}")
        return name

    def fact(self, rest: str) -> None:
        name, inside, flags = self.head(rest)
        arguments = _split(inside)
        stars = [k for k, a in enumerate(arguments) if a.endswith("*")]
        if len(stars) > 1:
            raise self.fail("a fact is about one object: only one argument may carry a star")
        words = flags.split()
        channel = None
        if "via" in words:
            place = words.index("via")
            channel = words[place + 1] if place + 1 < len(words) else ""
            if channel not in self.channels:
                raise self.fail(f"no channel {channel!r} is declared above; there are {', '.join(self.channels)}")
            words[place : place + 2] = []
        if unknown := [w for w in words if w not in ("holds", "state")]:
            raise self.fail(f"a fact can be `holds`, `state` or `via CHANNEL`, not {unknown[0]!r}")
        if not stars and (words or channel):
            raise self.fail("mark with a star the object that this fact is about")
        types = tuple(self.type(a.rstrip("*").strip()) for a in arguments)
        self.unique(name)
        self.predicates[name] = Predicate(
            name, types, stars[0] if stars else None, "holds" in words, "state" in words, channel, self.number
        )

    def operator(self, kind: str, rest: str) -> None:
        name, inside, extra = self.head(rest)
        if extra:
            raise self.fail(f"nothing may follow the parameters, but {extra!r} does")
        parameters = []
        for part in _split(inside):
            variable, colon, type_ = (p.strip() for p in part.partition(":"))
            if not colon:
                raise self.fail(f"write the type of {part!r}, as in `k: counter`")
            parameters.append((variable, self.type(type_)))
        self.unique(name)
        self.current = {"name": name, "kind": kind, "parameters": tuple(parameters), "line": self.number}

    def effects(self, word: str, rest: str) -> None:
        if self.current is None:
            raise self.fail(f"`{word}` belongs below an action, a move or an event")
        known = dict(self.current["parameters"])
        atoms = []
        for atom in self.atoms(rest):
            predicate = self.predicate(atom)
            for variable, wanted in zip(atom.variables, predicate.types):
                if variable not in known:
                    raise self.fail(f"{atom} speaks of {variable!r}, which is no parameter of {self.current['name']}")
                kind = known[variable]
                if not (is_below(self.parents, kind, wanted) or is_below(self.parents, wanted, kind)):
                    raise self.fail(f"{atom}: {variable!r} is a {kind}, but {predicate.name} takes a {wanted}")
            atoms.append(atom)
        target = _FIELDS[word]
        self.current[target] = (*self.current.get(target, ()), *atoms)

    def goal(self, rest: str) -> None:
        for atom in self.atoms(rest):
            self.predicate(atom)
            self.goals[atom.predicate] = self.number

    def atoms(self, rest: str) -> list[Atom]:
        atoms, place = [], 0
        while place < len(rest):
            match = _ATOM.match(rest, place)
            if not match or match.end() == place:
                raise self.fail(f"cannot read the facts from {rest[place:]!r} on; write name(argument, ...), name(...)")
            atoms.append(Atom(match[1] or match[3], tuple(_split(match[2] or ""))))
            place = match.end()
        return atoms

    def predicate(self, atom: Atom) -> Predicate:
        if atom.predicate not in self.predicates:
            known = ", ".join(self.predicates) or "none"
            raise self.fail(f"the fact {atom} is not declared; declared facts: {known}")
        predicate = self.predicates[atom.predicate]
        if len(atom.variables) != len(predicate.types):
            takes = f"{predicate.name}({', '.join(predicate.types)})"
            raise self.fail(
                f"{atom} has {len(atom.variables)} objects, but the fact is {takes} (line {predicate.line})"
            )
        return predicate

    def head(self, rest: str) -> tuple[str, str, str]:
        match = _HEAD.match(rest)
        if not match:
            raise self.fail("write name(argument, ...)")
        return match[1], match[2] or "", match[3].strip()

    def unique(self, name: str) -> None:
        taken = {**self.predicates, **self.operators}
        if name in taken:
            raise self.fail(f"{name!r} is declared already, in line {taken[name].line}")
        if name in self.parents:
            raise self.fail(f"{name!r} is a type already; PDDL wants different names")

    def close(self) -> None:
        if self.current is not None:
            operator = Operator(**self.current)
            self.operators[operator.name] = operator
            self.current = None

    def checked(self) -> Domain:
        added = {atom.predicate for operator in self.operators.values() for atom in operator.add_effects}
        for goal, number in self.goals.items():
            if self.operators and goal not in added:
                raise self.fail(f"no action adds the goal fact {goal}, so it can never appear", number)
        if not self.goals:
            raise DomainError(f"domain {self.name!r} has no `goal` line, so nothing could be goal-reaching")
        if not self.agents:
            raise DomainError(f"domain {self.name!r} has no `agents` line, so nobody acts in it")
        return Domain(
            self.name,
            self.parents,
            tuple(self.agents),
            self.channels,
            self.predicates,
            self.operators,
            tuple(self.goals),
            "\n".join(self.lines),
        )


def _split(inside: str) -> list[str]:
    return [part.strip() for part in inside.split(",") if part.strip()]


def parse(name: str, text: str) -> Domain:
    """Parse a domain.

    Raises:
        DomainError: The text is wrong; the message names the line, the fact and the object.
    """
    return _Reader(name, text).read()
