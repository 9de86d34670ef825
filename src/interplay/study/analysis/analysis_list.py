"""The list `analysis:` of a study file: what is to be computed from its answers and games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Names = Annotated[tuple[Name, ...], Field(min_length=1)]

# Measures of a game. The first are of every game.
PLAIN_MEASURES = ("score", "length", "turn")
CARD_MEASURES = ("g1", "g2", "g3", "communicativeness")  # of the partner's moves in Hanabi
TEAM_MEASURES = (
    "constructive", "non_constructive", "person_triggers", "partner_triggers", "person_accepted", "partner_accepted",
)  # fmt: skip
MEASURES = (*PLAIN_MEASURES, *CARD_MEASURES, *TEAM_MEASURES)
Measure = Literal[
    "score", "length", "turn", "g1", "g2", "g3", "communicativeness", "constructive", "non_constructive",
    "person_triggers", "partner_triggers", "person_accepted", "partner_accepted",
]  # fmt: skip


class PlanError(ValueError):
    """An error in an analysis; `place` is its id."""

    def __init__(self, message: str, place: str):
        super().__init__(message)
        self.place = place


class _Analysis(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Name
    title: str = ""


class Exclude(_Analysis):
    """Who is left out, in addition to those who did not finish."""

    kind: Literal["exclude"]
    attention: dict[Name, str | int] = {}  # question -> what those answer who read it
    failed_checks: int | None = Field(default=None, ge=0)  # whoever failed more of the file's attention checks
    least_seconds: float | None = Field(default=None, gt=0)  # the middle time for a form with scales
    same_answers: bool = False  # whoever gave one and the same answer on every scale
    unfinished: Literal["out", "in"] = "out"
    withdrawn: Literal["out", "in"] = "out"  # who stopped taking part: in only if the consent says that it may be used
    # Games of which the participant did not see more than this share of the steps, with the answers about them.
    unattended: float | None = Field(default=None, ge=0, lt=1)


class Sum(_Analysis):
    """A scale of several questions: their sum, each counted from 0. Its id can be used as a rating."""

    kind: Literal["scale"]
    of: Names
    reverse: tuple[Name, ...] = ()  # questions whose high answers count low

    @model_validator(mode="after")
    def _own(self) -> Sum:
        if len(set(self.of)) != len(self.of) or len(self.of) < 2:
            raise ValueError("of: at least two questions, each once")
        if stray := set(self.reverse) - set(self.of):
            raise ValueError(f"reverse: {sorted(stray)[0]!r} is not among the questions of this scale")
        return self


class Ratings(_Analysis):
    """How each partner was rated: means, how answers spread, and whether partners differ."""

    kind: Literal["ratings"]
    of: Names
    model: Literal["mixed", "ordinal", "means"] = "mixed"  # means: no test of whether partners differ
    margin: float | None = Field(default=None, gt=0)  # the largest difference that does not matter, in points


class OneSample(_Analysis):
    """Whether the mean of ratings differs from a value; by default the middle of the scale."""

    kind: Literal["one_sample"]
    of: Names
    against: float | None = None
    by: Literal["game", "partner"] | None = None  # a test for each
    only: tuple[str, ...] = ()  # of these games or partners


class Paired(_Analysis):
    """Whether the same people rate one game, or one partner, differently from another."""

    kind: Literal["paired"]
    of: Names
    factor: Literal["game", "partner"]
    levels: tuple[str, ...] = ()  # none: all of them, every pair

    @model_validator(mode="after")
    def _several(self) -> Paired:
        if len(self.levels) == 1:
            raise ValueError("levels: at least two to compare, or none for all")
        return self


class Ranks(_Analysis):
    """How people rank partners, against the scores with them and against other measures that are given."""

    kind: Literal["ranks"]
    page: Name  # a page of the kind `ranking`
    model: Literal["linear", "friedman"] = "linear"  # friedman: whole rankings only, no strengths


class Regression(_Analysis):
    """Ratings against what happened in the games that they are about, one measure at a time."""

    kind: Literal["regression"]
    of: Names
    measures: Annotated[tuple[Measure, ...], Field(min_length=1)] = ("score",)
    model: Literal["mixed", "ordinal", "clustered"] = "mixed"  # clustered: by person, for these partners only
    slopes: tuple[Literal["person", "partner"], ...] = ("person",)  # over whom the slope may vary (mixed)
    margin: float | None = Field(default=None, gt=0)  # the largest slope that does not matter


class Clicks(_Analysis):
    """Button presses in Hanabi, joined to the partner's last move before them."""

    kind: Literal["clicks"]
    flag: Name
    practice: bool = False  # whether games that do not count are looked at, too


class Preferences(_Analysis):
    """Two-sided questions about the two partners that a person met."""

    kind: Literal["preferences"]
    of: Names


class Familiarity(_Analysis):
    """Ratings of those who knew the game well and of those who did not."""

    kind: Literal["familiarity"]
    of: Names
    by: Name  # a question about the person
    split: float | None = None  # of a question on a scale: from here on people are familiar


class InterdependenceAnalysis(_Analysis):
    """Who initiated and who accepted in the games, and how it changed over the session."""

    kind: Literal["interdependence"]


Analysis = Annotated[
    Exclude | Sum | Ratings | OneSample | Paired | Ranks | Regression | Clicks | Preferences | Familiarity
    | InterdependenceAnalysis,
    Field(discriminator="kind"),
]  # fmt: skip


def check_plan(protocol: Any) -> None:
    """Raise `PlanError` where an analysis names what its study does not have."""
    asked = {question.id: question for question in questions(protocol)}
    scales: set[str] = set()
    seen: set[str] = set()
    excluded = False
    for part in protocol.analysis:
        if part.id in seen:
            raise PlanError(f"two analyses have the id {part.id!r}", part.id)
        if part.kind == "exclude" and excluded:
            raise PlanError("who is left out is said once", part.id)
        excluded = excluded or part.kind == "exclude"
        seen.add(part.id)
        try:
            _check(protocol, part, asked, scales)
        except ValueError as error:
            raise PlanError(f"analysis {part.id!r}: {error}", part.id) from None
        if part.kind == "scale":
            if part.id in asked:
                raise PlanError(f"the scale {part.id!r} has the name of a question; give it another", part.id)
            scales.add(part.id)


def _check(protocol: Any, part: Any, asked: Mapping[str, Any], scales: set[str]) -> None:
    match part.kind:
        case "exclude":
            for name in part.attention:
                _known(name, asked, "question")
        case "preferences":
            _all_of(part.of, asked, ("two_sided",))
        case "scale":
            _all_of(part.of, asked, ("likert", "two_sided"))
        case "ratings" | "one_sample" | "paired" | "regression" | "familiarity":
            _all_of(
                [name for name in part.of if name not in scales], asked, ("likert", "two_sided", "number", "slider")
            )
        case "ranks":
            _known(part.page, {page.id for page in pages(protocol) if page.kind == "ranking"}, "ranking page")
        case "clicks":
            _known(part.flag, {flag.id for page in pages(protocol) for flag in getattr(page, "flags", ())}, "flag")
    if part.kind == "familiarity":
        _known(part.by, asked, "question")
        if part.split is not None and asked[part.by].type not in ("likert", "two_sided", "number", "slider"):
            raise ValueError(f"split: {part.by!r} has no numbers to split")
    levels = {"game": protocol.games, "partner": protocol.partners}
    for factor, names in ((getattr(part, "by", None), "only"), (getattr(part, "factor", None), "levels")):
        chosen = getattr(part, names, ())
        if chosen and factor is None:
            raise ValueError(f"{names}: say `by:` what, game or partner")
        for name in chosen:
            _known(name, levels[str(factor)], str(factor))


def _all_of(names: Any, asked: Mapping[str, Any], types: tuple[str, ...]) -> None:
    for name in names:
        _known(name, asked, "question")
        if asked[name].type not in types:
            raise ValueError(f"question {name!r} is of the type {asked[name].type}, not {' or '.join(types)}")


def _known(name: str, known: Any, what: str) -> None:
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}; there is {', '.join(known) or 'none'}")


def pages(protocol: Any) -> Iterator[Any]:
    """Yield all pages of a study, those in repeats included."""

    def walk(items: Any) -> Iterator[Any]:
        for item in items:
            if item.kind == "repeat":
                yield from walk(item.pages)
            else:
                yield item

    return walk(protocol.flow)


def questions(protocol: Any) -> Iterator[Any]:
    """Yield all questions of forms."""
    for page in pages(protocol):
        if page.kind == "form":
            yield from page.questions


def default_plan(protocol: Any) -> tuple[Any, ...]:
    """Return the usual analyses, for a study whose file names none."""
    rated = tuple(
        dict.fromkeys(q.id for q in _rated(protocol) if q.type in ("likert", "slider") and q.attention is None)
    )
    sided = tuple(dict.fromkeys(q.id for q in questions(protocol) if q.type == "two_sided"))
    parts: list[Any] = []
    if rated:
        parts.append(Ratings(kind="ratings", id="ratings", of=rated))
        parts.append(Regression(kind="regression", id="regression", of=rated))
    if sided:
        parts.append(Preferences(kind="preferences", id="preferences", of=sided))
    parts += [Ranks(kind="ranks", id="ranks", page=page.id) for page in pages(protocol) if page.kind == "ranking"][-1:]
    cards = any(setting.game.startswith("hanabi/") for setting in protocol.games.values())
    flags = dict.fromkeys(flag.id for page in pages(protocol) for flag in getattr(page, "flags", ()))
    parts += [Clicks(kind="clicks", id=f"clicks-{n}", flag=flag) for n, flag in enumerate(flags, start=1) if cards]
    if any(not setting.game.startswith("hanabi/") for setting in protocol.games.values()):
        parts.append(InterdependenceAnalysis(kind="interdependence", id="interdependence"))
    return tuple(parts)


def _rated(protocol: Any) -> Iterator[Any]:
    """Yield the questions asked within a repeat: of a partner, not of the person."""

    def walk(items: Any, inside: bool) -> Iterator[Any]:
        for item in items:
            if item.kind == "repeat":
                yield from walk(item.pages, True)
            elif item.kind == "form" and inside:
                yield from item.questions

    return walk(protocol.flow, False)
