"""The model of a study file: who plays what with whom in which order, what is asked, and what is paid."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PrivateAttr,
    model_validator,
)
from pydantic_core import core_schema

from interplay.errors import InterplayError
from interplay.study.analysis.analysis_list import Analysis, PlanError, check_plan
from interplay.study.protocol.answer_conditions import check_condition
from interplay.study.protocol.payment_formula import check_formula, games_in
from interplay.study.protocol.texts import Text
from interplay.study.protocol.translations import check_words
from interplay.study.protocol.validation import Misplaced, check_flow, check_spoken

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z]{2,8})?$")]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]  # a completion code
Condition = Annotated[str, AfterValidator(check_condition)]  # on earlier answers, see `answer_conditions.py`
PICTURES, VIDEOS = ("png", "jpg", "jpeg", "webp", "gif", "svg"), ("mp4", "webm")


class StudyPart(BaseModel):
    """A part of a study file: frozen, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    LATER: ClassVar[frozenset[str]] = frozenset()  # fields added after the first version


class Option(StudyPart):
    """An option of a question."""

    LATER = frozenset({"last"})

    value: Annotated[str, Field(min_length=1, max_length=80)]
    label: Text
    last: bool = False  # stays behind the others when options are shown in a drawn order


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


class Media(StudyPart):
    """A picture or a video beside the study file, or a position of one of the study's games.

    A position is reached by `moves` (names of actions, in turn) from the start that `seed` draws, and is shown as the
    board shows it to the person in `seat`.
    """

    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$")] | None = None
    alt: Text  # what it shows, for those who do not see it
    captions: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}\.vtt$")] | None = None  # of a video
    game: Name | None = None
    seed: int = Field(default=0, ge=0, lt=2**31)
    moves: tuple[str, ...] = ()
    seat: int = Field(default=0, ge=0)
    sha256: str | None = None  # of the file; filled in when the study file is read

    @model_validator(mode="after")
    def _one_source(self) -> Media:
        if (self.file is None) == (self.game is None):
            raise ValueError("either a `file` or the position of a `game`")
        if self.file is not None and self.suffix not in (*PICTURES, *VIDEOS):
            raise ValueError(f"file: {self.file!r} is none of {', '.join((*PICTURES, *VIDEOS))}")
        if self.captions is not None and self.suffix not in VIDEOS:
            raise ValueError("captions: only a video has them")
        return self

    @property
    def suffix(self) -> str:
        """The kind of file by its name's end; empty for a position."""
        return (self.file or "").rpartition(".")[2].lower()


class Question(StudyPart):
    """A question. Answers on scales count from 1; a slider has no answer until it is moved."""

    LATER = frozenset({"step", "left", "right", "media", "when", "shuffle", "attention"})

    id: Name
    type: Literal["likert", "two_sided", "choice", "multi", "number", "text", "slider"]
    label: Text
    required: bool = True
    scale: Name | None = None
    options: tuple[Option, ...] = ()
    min: float | None = None
    max: float | None = None
    step: float | None = Field(default=None, gt=0)  # of a slider; 1 if none is named
    left: Text | None = None  # of a slider: what its ends are called
    right: Text | None = None
    media: Name | None = None  # shown with the question
    when: Condition | None = None  # asked only if this holds, also of answers on the same page
    shuffle: bool = False  # options in an order that is drawn for each participant
    attention: str | int | None = None  # what those answer who read it: an attention check
    right_answer: str | tuple[str, ...] | None = None  # in a quiz: the value, or the values, of the right options
    explanation: Text | None = None  # in a quiz: shown with a wrong answer

    @model_validator(mode="after")
    def _fits_its_type(self) -> Question:
        if (self.type in ("likert", "two_sided")) != (self.scale is not None):
            raise ValueError("a likert or two_sided question names its `scale`, and no other question does")
        if (self.type in ("choice", "multi")) != bool(self.options):
            raise ValueError("a choice or multi question has `options`, and no other question does")
        if self.type == "slider" and (self.min is None or self.max is None or self.min >= self.max):
            raise ValueError("a slider goes from `min` to a larger `max`")
        if self.type != "slider" and (self.step, self.left, self.right) != (None, None, None):
            raise ValueError("`step`, `left` and `right` are those of a slider")
        if self.shuffle and not self.options:
            raise ValueError("shuffle: there are no options whose order could be drawn")
        if self.attention is not None and self.type in ("multi", "text"):
            raise ValueError(f"attention: a {self.type} question has no single right answer")
        values = [option.value for option in self.options]
        if len(set(values)) != len(values):
            raise ValueError("two options have the same value")
        wanted = [self.right_answer] if isinstance(self.right_answer, str) else list(self.right_answer or ())
        if any(value not in values for value in wanted):
            raise ValueError(f"right_answer: {wanted} is not among the options {values}")
        return self


class StudyPage(StudyPart):
    """A page of a study. Its types are in `study.pages`, and in packages of others."""

    LATER = frozenset({"limit_s", "when", "media"})

    kind: str
    id: Name
    title: Text
    text: Text = ""
    when: Condition | None = None  # shown only if this holds when its turn comes
    media: tuple[Name, ...] = ()  # shown below the text
    # After so many seconds the page is sent as it is, unanswered questions included; None: there is no limit.
    limit_s: float | None = Field(default=None, ge=1, le=7200)

    @model_validator(mode="after")
    def _limited(self) -> Self:
        kind = getattr(self, "kind", "")
        if self.limit_s is not None and kind not in ("form", "instructions"):
            raise ValueError(
                f"limit_s: a page of the kind {kind} has no time limit; forms and instructions may have one"
            )
        return self


class Repeat(StudyPart):
    """Pages that are shown once for each row of a design, or a number of times."""

    LATER = frozenset({"until", "when"})

    model_config = ConfigDict(defer_build=True)

    kind: Literal["repeat"]
    id: Name
    over: Name | None = None
    times: int | None = Field(default=None, ge=1, le=100)
    until: Condition | None = None  # no further turn once this holds at the end of one
    when: Condition | None = None
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

    LATER = frozenset({"begin", "countdown_s"})

    game: str
    options: dict[str, Any] = {}
    seat: int | Literal["alternate"] = 0  # where the person sits; `alternate`: changes from game to game
    tick_hz: float = Field(default=6.0, gt=0, le=60)  # of games in real time
    partner_delay_s: float = Field(default=1.0, ge=0, le=30)  # of games in turns: the partner's time for a move
    think_s: float = Field(default=20.0, gt=0, le=600)  # of games in turns: a partner that takes longer waits
    # Of games in real time: they begin when everyone has pressed a key, or by themselves; both after a countdown, which
    # also ends every pause.
    begin: Literal["countdown", "press"] = "countdown"
    countdown_s: float = Field(default=3.0, ge=0, le=30)
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

    LATER = frozenset({"require_id", "signature", "audience"})

    code: Code | None = None
    screened_code: Code | None = None
    url: Annotated[str, Field(pattern=r"^https://[^\s\"'<>]+$")] | None = None
    recruiter: Literal["prolific", "mturk"] | None = None  # whose ids come in the address
    require_id: bool = False  # whether visitors without a recruiter's id are turned away
    # How the recruiter signs the id: `jwt`, a token signed with its private key; `hmac`, a keyed hash of the id in the
    # parameter `signature`. The key is given when the study is served; ids that are not signed by it are turned away.
    signature: Literal["jwt", "hmac"] | None = None
    # The host for which tokens must be meant, such as study.example.org; without it, the host that a visitor asks for,
    # which whoever holds a token for another host can make up.
    audience: Annotated[str, Field(pattern=r"^[A-Za-z0-9.:\[\]-]+$")] | None = None

    @model_validator(mode="after")
    def _known_recruiter(self) -> Completion:
        if self.recruiter is None and (self.require_id or self.signature):
            raise ValueError("require_id and signature: name the `recruiter` whose ids come")
        if self.audience is not None and self.signature != "jwt":
            raise ValueError("audience: only tokens (`signature: jwt`) name the host that they are meant for")
        return self


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


class Dropout(StudyPart):
    """What participants get who stayed away for longer than `away_min`; what is not said is as in `withdrawal`."""

    text: Text = ""  # of the page that they see when they come back
    code: Code | None = None  # without one here and in `withdrawal`, each gets their own
    payment: str | None = None  # a formula as in `payment`

    @model_validator(mode="after")
    def _readable(self) -> Dropout:
        if self.payment is not None:
            _check_formula(self.payment)
        return self


class Recruitment(StudyPart):
    """How long new participants are taken; those who have consented go on in any case."""

    participants: int | None = Field(default=None, ge=1)  # who take part or have finished: then the study is full
    closes: datetime | None = None  # with a time zone
    closed_text: Text = ""  # for those who come too late; without one, a few words of ours

    @model_validator(mode="after")
    def _zoned(self) -> Recruitment:
        if self.closes is not None and self.closes.tzinfo is None:
            raise ValueError("closes: a time needs its zone, such as 2027-03-01T18:00:00+01:00")
        return self


class Device(StudyPart):
    """What participants' devices must have; whoever comes with another is told before the consent."""

    min_width: int = Field(default=0, ge=0, le=10_000)  # of the browser's window, in CSS pixels
    min_height: int = Field(default=0, ge=0, le=10_000)
    keyboard: bool = False  # a device with a mouse or touch pad, and so a keyboard, rather than a phone


class Protocol(StudyPart):
    """A study file."""

    LATER = frozenset({"withdrawal", "words", "dropout", "recruitment", "device", "media", "attention_limit"})

    _folder: Path | None = PrivateAttr(default=None)  # of the file that was read, where its media lie

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
    dropout: Dropout = Dropout()
    recruitment: Recruitment = Recruitment()
    device: Device = Device()
    words: dict[str, Text] = {}  # what the frame and the kitchen say, by its English: in other languages, or otherwise
    grace_s: float = Field(default=60.0, gt=0)  # a game waits so long for a person who has gone
    away_min: float = Field(default=60.0, gt=0)  # after so long, a place is given to someone else
    erasure: Literal["erase_games", "keep_games"] = "erase_games"  # what becomes of games when a person is erased
    media: dict[Name, Media] = {}
    attention_limit: int | None = Field(default=None, ge=1)  # after so many failed checks a person is screened out
    analysis: tuple[Analysis, ...] = ()  # what `interplay study analyse` computes; never sent to participants

    @property
    def hash(self) -> str:
        """A hash of all that participants are shown; the analyses may change without changing it."""
        fields = _hashed_fields(self)
        del fields["analysis"]
        # When the study closes may change while it runs.
        fields.pop("recruitment", None)
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]

    @model_validator(mode="after")
    def _consistent(self) -> Protocol:
        first = self.flow[0]
        if first.kind != "consent":
            raise ValueError("the first page of `flow` is the consent")
        if len(set(self.languages)) != len(self.languages) or not self.languages:
            raise ValueError("languages: at least one, each once")
        rules = {"payment": self.payment, "withdrawal": self.withdrawal, "dropout": self.dropout}
        formulas = {
            "payment": self.payment.formula,
            "withdrawal": self.withdrawal.payment,
            "dropout": self.dropout.payment,
        }
        for place, formula in formulas.items():
            for game in games_in(formula or "") - set(self.games):
                raise Misplaced(f"{place}: there is no game {game!r} in this study", place)
        for place, part in (*rules.items(), ("recruitment", self.recruitment)):
            try:
                check_spoken(part, self.languages, f"{place}: ")
            except ValueError as error:
                raise Misplaced(str(error), place) from None
        check_words(self.words, self.languages)
        check_flow(self)
        try:
            check_plan(self)
        except PlanError as error:
            raise Misplaced(str(error), error.place) from None
        return self


def _hashed_fields(part: Any) -> Any:
    """Return a part as plain values, without the fields of later versions that have their defaults.

    Files that do not use them keep their hash when such fields are added: running studies go on.
    """
    if isinstance(part, tuple | list):
        return [_hashed_fields(item) for item in part]
    if isinstance(part, dict):
        return {name: _hashed_fields(value) for name, value in part.items()}
    if not isinstance(part, BaseModel):
        return part
    plain, later = part.model_dump(mode="json"), getattr(part, "LATER", frozenset())
    return {
        name: _hashed_fields(getattr(part, name)) if isinstance(plain[name], dict | list) else plain[name]
        for name, field in type(part).model_fields.items()
        if name not in later or getattr(part, name) != field.default
    }
