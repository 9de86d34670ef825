"""The model of a study file: who plays what with whom in which order, what is asked, and what is paid."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from interplay.errors import InterplayError
from interplay.study.analysis.plan import Analysis, PlanError, check_plan
from interplay.study.live.kitchen_phrases import check as check_words
from interplay.study.protocol.conditions import check_condition
from interplay.study.protocol.payment import check_formula, games_in
from interplay.study.protocol.validation import Misplaced, check_flow, check_spoken
from interplay.study.protocol.words import Text

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z]{2,8})?$")]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]  # a completion code
Condition = Annotated[str, AfterValidator(check_condition)]  # on earlier answers, see `conditions.py`
PICTURES, VIDEOS = ("png", "jpg", "jpeg", "webp", "gif", "svg"), ("mp4", "webm")


class StudyPart(BaseModel):
    """A part of a study file: frozen, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Option(StudyPart):
    """An option of a question."""

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


class Checkbox(StudyPart):
    """A box that must be ticked to consent."""

    id: Name
    label: Text


class _Page(StudyPart):
    id: Name
    title: Text
    text: Text = ""
    when: Condition | None = None  # shown only if this holds when its turn comes
    media: tuple[Name, ...] = ()  # shown below the text


class Consent(_Page):
    """The first page. The study begins when all boxes are ticked: sequences of the designs are assigned then."""

    kind: Literal["consent"]
    version: Annotated[str, Field(min_length=1, max_length=40)]
    checkboxes: tuple[Checkbox, ...] = Field(min_length=1)


class Form(_Page):
    """A page of questions."""

    kind: Literal["form"]
    questions: tuple[Question, ...] = Field(min_length=1)
    shuffle: bool = False  # questions in an order that is drawn for each participant


class Instructions(_Page):
    """A page to read."""

    kind: Literal["instructions"]
    figures: tuple[Name, ...] = ()  # games whose start is drawn


class Quiz(_Page):
    """Questions with right answers. Participants who need too many tries are screened out."""

    kind: Literal["quiz"]
    questions: tuple[Question, ...] = Field(min_length=1)
    tries: int = Field(default=2, ge=1, le=20)
    most_wrong: int = Field(default=0, ge=0)  # wrong answers that still pass

    @model_validator(mode="after")
    def _answerable(self) -> Quiz:
        for question in self.questions:
            if question.right_answer is None:
                raise ValueError(f"question {question.id!r} of a quiz has no right_answer")
        return self


class Flag(StudyPart):
    """A button that participants may press during a game."""

    id: Name
    label: Text


class PlayPage(_Page):
    """One game with one partner.

    Game and partner may come from a design: `$NAME` is the present value of that factor. With the id of a waiting room
    as its partner, the game is played with the participants who were met there.
    """

    kind: Literal["game"]
    game: str
    partner: str
    practice: bool | Literal["first"] = False  # `first`: in the first turn of the innermost repeat
    flags: tuple[Flag, ...] = ()


class Wait(_Page):
    """A waiting room.

    Participants who are here at the same time go on together, and play the games whose `partner` is this page's id.
    Whoever waited long enough, and whoever was left, plays with the partner of `otherwise`.
    """

    kind: Literal["wait"]
    people: int = Field(default=2, ge=2, le=6)  # of one group
    patience_s: float = Field(default=120.0, gt=0, le=3600)
    otherwise: Name
    someone_leaves: Literal["bot", "end"] = "bot"  # after `grace_s`: a bot plays on, or the game ends with its score


class Ranking(_Page):
    """Put the partners met so far in this repeat into an order, best first."""

    kind: Literal["ranking"]
    of: Name  # a design with the factor `partner`


class Repeat(StudyPart):
    """Pages that are shown once for each row of a design, or a number of times."""

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


Item = Annotated[Consent | Form | Instructions | Quiz | PlayPage | Wait | Ranking | Repeat, Field(discriminator="kind")]
Repeat.model_rebuild()


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


# Fields added after the first version: left out of the hash where they have defaults.
LATER = ("withdrawal", "words", "media", "attention_limit")
LATER_WITHIN = {
    "when", "media", "shuffle", "until", "step", "left", "right", "attention", "last", "captions", "sha256",
}  # fmt: skip


def _without_later(value: Any) -> Any:
    """Return a dumped file without later fields that say nothing."""
    if isinstance(value, dict):
        silent = {k for k in LATER_WITHIN & value.keys() if value[k] is None or value[k] is False or value[k] == []}
        return {name: _without_later(part) for name, part in value.items() if name not in silent}
    return [_without_later(part) for part in value] if isinstance(value, list) else value


class Protocol(StudyPart):
    """A study file."""

    _folder: Path | None = PrivateAttr(default=None)  # of the file that was read, where its media lie

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
    words: dict[str, Text] = {}  # what the kitchen says, by its English: in other languages, or otherwise
    grace_s: float = Field(default=60.0, gt=0)  # a game waits so long for a person who has gone
    away_min: float = Field(default=60.0, gt=0)  # after so long, a place is given to someone else
    erasure: Literal["erase_games", "keep_games"] = "erase_games"  # what becomes of games when a person is erased
    media: dict[Name, Media] = {}
    attention_limit: int | None = Field(default=None, ge=1)  # after so many failed checks a person is screened out
    analysis: tuple[Analysis, ...] = ()  # what `interplay study analyse` computes; never sent to participants

    @property
    def hash(self) -> str:
        """A hash of all that participants are shown; the analyses may change without changing it."""
        # Fields that later versions added do not change the hash of files without them: running studies go on.
        silent = {name for name in LATER if getattr(self, name) == type(self).model_fields[name].default}
        dump = _without_later(self.model_dump(mode="json", exclude={"analysis", *silent}))
        text = json.dumps(dump, sort_keys=True)
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
