"""The model of a study file: who plays what with whom in which order, what is asked, and what is paid."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, model_validator
from pydantic_core import core_schema

from interplay.errors import InterplayError
from interplay.study.analysis.plan import Analysis, PlanError, check_plan
from interplay.study.protocol.frame_words import check_words
from interplay.study.protocol.payment import check_formula, games_in
from interplay.study.protocol.validation import Misplaced, check_flow, check_spoken
from interplay.study.protocol.words import Text

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z]{2,8})?$")]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]  # a completion code


class StudyPart(BaseModel):
    """A part of a study file: frozen, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Option(StudyPart):
    """An option of a question."""

    value: Annotated[str, Field(min_length=1, max_length=80)]
    label: Text


class Scale(StudyPart):
    """The points of a scale, with labels at both ends, and in between if wanted."""

    points: int = Field(default=5, ge=2, le=11)
    left: Text = ""
    right: Text = ""
    labels: tuple[Text, ...] = ()  # none, or one for each point

    @model_validator(mode="after")
    def _labelled(self) -> Scale:
        if self.labels and len(self.labels) != self.points:
            raise ValueError(f"{len(self.labels)} labels for {self.points} points; give none, or one for each")
        return self


class Question(StudyPart):
    """A question. Answers on scales count from 1."""

    id: Name
    type: Literal["likert", "two_sided", "choice", "multi", "number", "text"]
    label: Text
    required: bool = True
    scale: Name | None = None
    options: tuple[Option, ...] = ()
    min: float | None = None
    max: float | None = None
    right_answer: str | tuple[str, ...] | None = None  # in a quiz: the value, or the values, of the right options
    explanation: Text | None = None  # in a quiz: shown with a wrong answer

    @model_validator(mode="after")
    def _fits_its_type(self) -> Question:
        if (self.type in ("likert", "two_sided")) != (self.scale is not None):
            raise ValueError("a likert or two_sided question names its `scale`, and no other question does")
        if (self.type in ("choice", "multi")) != bool(self.options):
            raise ValueError("a choice or multi question has `options`, and no other question does")
        values = [option.value for option in self.options]
        if len(set(values)) != len(values):
            raise ValueError("two options have the same value")
        wanted = [self.right_answer] if isinstance(self.right_answer, str) else list(self.right_answer or ())
        if any(value not in values for value in wanted):
            raise ValueError(f"right_answer: {wanted} is not among the options {values}")
        return self


class StudyPage(StudyPart):
    """A page of a study. Its types are in `study.pages`, and in packages of others."""

    kind: str
    id: Name
    title: Text
    text: Text = ""


class Repeat(StudyPart):
    """Pages that are shown once for each row of a design, or a number of times."""

    model_config = ConfigDict(defer_build=True)

    kind: Literal["repeat"]
    id: Name
    over: Name | None = None
    times: int | None = Field(default=None, ge=1, le=100)
    pages: tuple[Item, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_way(self) -> Repeat:
        if (self.over is None) == (self.times is None):
            raise ValueError("a repeat goes either `over` a design or so many `times`")
        return self


class _ItemSchema:
    """Reads a part of the flow by its `kind`. The page types are looked up when the first study is read."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        from interplay.study.pages.page_type import page_specs

        choices = {kind: handler.generate_schema(model) for kind, model in page_specs().items()}
        return core_schema.tagged_union_schema({**choices, "repeat": handler.generate_schema(Repeat)}, "kind")


Item = Annotated[StudyPage | Repeat, _ItemSchema]


class GameSetting(StudyPart):
    """A game as it is played in this study."""

    game: str
    options: dict[str, Any] = {}
    seat: int | Literal["alternate"] = 0  # where the person sits; `alternate`: changes from game to game
    tick_hz: float = Field(default=6.0, gt=0, le=60)  # of games in real time
    partner_delay_s: float = Field(default=1.0, ge=0, le=30)  # of games in turns: the partner's time for a move
    think_s: float = Field(default=20.0, gt=0, le=600)  # of games in turns: a partner that takes longer waits
    # Of games in turns: for a participant who takes longer the first legal move is made; None: there is no limit.
    move_s: float | None = Field(default=None, ge=1, le=3600)


class StudyDesign(StudyPart):
    """What varies: all combinations of the factors' values, or some drawn from them, in an order for each participant.

    `latin`: the orders are the rows of a square in which every cell follows every other equally often, assigned evenly.
    `shuffle`: each participant's order is drawn. `fixed`: as written. With `draw: k`, each participant gets k different
    cells; all choices and their orders are assigned evenly.
    """

    factors: dict[Name, tuple[str, ...]] = Field(min_length=1)
    repeats: int = Field(default=1, ge=1, le=20)
    order: Literal["latin", "shuffle", "fixed"] = "latin"
    draw: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _drawable(self) -> StudyDesign:
        for name, values in self.factors.items():
            if not values or len(set(values)) != len(values):
                raise ValueError(f"factor {name!r} needs values, each once")
        if self.draw is not None and (self.draw > len(self.cells) or self.repeats > 1 or self.order == "fixed"):
            raise ValueError(f"draw: at most {len(self.cells)} cells, without `repeats` and without a fixed order")
        return self

    @property
    def cells(self) -> list[dict[str, str]]:
        """All combinations of the factors' values, in the order in which they are written, `repeats` times."""
        cells: list[dict[str, str]] = [{}]
        for name, values in self.factors.items():
            cells = [{**cell, name: value} for cell in cells for value in values]
        return cells * self.repeats


class Payment(StudyPart):
    """What participants are paid: a formula, and the currency of its amount."""

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    formula: str = "0"

    @model_validator(mode="after")
    def _readable(self) -> Payment:
        _check_formula(self.formula)
        return self


def _check_formula(text: str) -> None:
    try:
        check_formula(text)
    except InterplayError as error:
        raise ValueError(str(error)) from None


class Completion(StudyPart):
    """How participants are sent back to the recruiter.

    `{code}` in the address is the completion code; if none is given, each participant gets their own.
    """

    code: Code | None = None
    screened_code: Code | None = None
    url: Annotated[str, Field(pattern=r"^https://[^\s\"'<>]+$")] | None = None
    recruiter: Literal["prolific", "mturk"] | None = None  # whose ids come in the address


class Withdrawal(StudyPart):
    """What happens to participants who stop taking part, which everyone may do at any time."""

    text: Text = ""  # of their last page; without one, a few words of ours
    code: Code | None = None  # a completion code for those who had consented, such as one for a part of the pay
    payment: str | None = None  # what they are owed, a formula as in `payment`; without one, nothing
    erase: bool = False  # whether they may have all that is stored of them erased, by themselves and at once

    @model_validator(mode="after")
    def _readable(self) -> Withdrawal:
        if self.payment is not None:
            _check_formula(self.payment)
        return self


LATER = ("withdrawal", "words")  # fields added after the first version: left out of the hash where they have defaults


class Protocol(StudyPart):
    """A study file."""

    model_config = ConfigDict(defer_build=True)

    name: Name
    title: Text
    languages: tuple[Language, ...] = ("en",)
    about: str = ""  # for researchers: where it comes from, and how contradictions of the source were settled
    scales: dict[Name, Scale] = {}
    games: dict[Name, GameSetting] = {}
    partners: dict[Name, str] = {}  # name -> agent; never sent to participants
    designs: dict[Name, StudyDesign] = {}
    flow: tuple[Item, ...] = Field(min_length=1)
    end: Text = ""
    payment: Payment = Payment()
    completion: Completion = Completion()
    withdrawal: Withdrawal = Withdrawal()
    words: dict[str, Text] = {}  # what the frame and the kitchen say, by its English: in other languages, or otherwise
    grace_s: float = Field(default=60.0, gt=0)  # a game waits so long for a person who has gone
    away_min: float = Field(default=60.0, gt=0)  # after so long, a place is given to someone else
    erasure: Literal["erase_games", "keep_games"] = "erase_games"  # what becomes of games when a person is erased
    analysis: tuple[Analysis, ...] = ()  # what `interplay study analyse` computes; never sent to participants

    @property
    def hash(self) -> str:
        """A hash of all that participants are shown; the analyses may change without changing it."""
        # Fields that later versions added do not change the hash of files without them: running studies go on.
        silent = {name for name in LATER if getattr(self, name) == type(self).model_fields[name].default}
        text = json.dumps(self.model_dump(mode="json", exclude={"analysis", *silent}), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @model_validator(mode="after")
    def _consistent(self) -> Protocol:
        first = self.flow[0]
        if first.kind != "consent":
            raise ValueError("the first page of `flow` is the consent")
        if len(set(self.languages)) != len(self.languages) or not self.languages:
            raise ValueError("languages: at least one, each once")
        for place, formula in (("payment", self.payment.formula), ("withdrawal", self.withdrawal.payment or "")):
            for game in games_in(formula) - set(self.games):
                raise Misplaced(f"{place}: there is no game {game!r} in this study", place)
        try:
            check_spoken(self.withdrawal, self.languages, "withdrawal: ")
        except ValueError as error:
            raise Misplaced(str(error), "withdrawal") from None
        check_words(self.words, self.languages)
        check_flow(self)
        try:
            check_plan(self)
        except PlanError as error:
            raise Misplaced(str(error), error.place) from None
        return self
