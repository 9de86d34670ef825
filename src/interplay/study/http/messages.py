"""All that travels between the browser and the server, as types. `tools/typescript_types.py` writes them as TypeScript.

A field's comment and a class's docstring go along. Page types of our own have their views here; those of other packages
add fields to `PageView`.
"""

from __future__ import annotations

from typing import (
    Any,
    Literal,
    NotRequired,  # pydantic reads no other TypedDict before Python 3.12
)

from typing_extensions import TypedDict

from interplay.study.protocol.model import Question

QuestionType = Question.model_fields["type"].annotation


class Progress(TypedDict):
    """How many pages are behind a participant."""

    done: int
    of: int


class MediaView(TypedDict):
    """A picture, a video, a drawing or a board that stands still."""

    kind: Literal["image", "video", "drawing", "board"]
    alt: str
    src: NotRequired[str]
    captions: NotRequired[str | None]
    svg: NotRequired[str]
    start: NotRequired[Any]  # of a board: as a game's `Start`
    view: NotRequired[Any]


class ItemTimes(TypedDict):
    """When a question was answered, in seconds since its page was opened, and how often that was changed."""

    first_s: float | None
    last_s: float | None
    changes: int


class PageView(TypedDict):
    """What every page has; those of other packages have more."""

    id: str
    kind: str
    title: str
    text: str  # safe HTML, made by the server
    media: NotRequired[list[MediaView]]  # shown below the text
    scripts: NotRequired[list[str]]  # modules that must be loaded first
    left_s: NotRequired[float | None]  # seconds left for this page, where it has a limit


class Device(TypedDict):
    """What a participant's device must have."""

    min_width: int
    min_height: int
    keyboard: bool


class State(TypedDict):
    """The answer to every request: which page is open, in which language."""

    csrf: str
    language: str
    languages: list[str]
    title: NotRequired[str]
    progress: Progress
    words: NotRequired[dict[str, str]]  # of the frame, as the study says them
    page: PageView
    test: NotRequired[bool]  # the study is only tried out
    device: NotRequired[Device]  # what the device must have


class Labelled(TypedDict):
    """A box to tick, or a button to flag something."""

    id: str
    label: str


class ConsentPage(PageView):
    """The statement and the boxes to tick."""

    kind: Literal["consent"]
    version: str
    checkboxes: list[Labelled]


class OptionView(TypedDict):
    """An option of a question."""

    value: str
    label: str


class QuestionView(TypedDict):
    """A question; scales answer 1 to `points`."""

    id: str
    type: QuestionType  # pyright: ignore[reportInvalidTypeForm]
    label: str
    required: NotRequired[bool]
    points: NotRequired[int | None]
    left: NotRequired[str | None]
    right: NotRequired[str | None]
    labels: NotRequired[list[str] | None]
    options: NotRequired[list[OptionView] | None]
    min: NotRequired[float | None]
    max: NotRequired[float | None]
    step: NotRequired[float | None]
    media: NotRequired[MediaView | None]
    when: NotRequired[list[Any] | None]  # asked only while this condition holds


class FormPage(PageView):
    """Questions."""

    kind: Literal["form"]
    questions: list[QuestionView]


class QuizPage(PageView):
    """Questions with right answers, which stay on the server."""

    kind: Literal["quiz"]
    questions: list[QuestionView]
    feedback: dict[str, str] | None  # what was wrong in the last try, with explanations
    tries_left: int


class InstructionsPage(PageView):
    """A text with pictures."""

    kind: Literal["instructions"]
    figures: list[str]  # SVG


class Alias(TypedDict):
    """How a partner is shown: never by an agent's name."""

    id: str
    label: str
    colour: str
    shape: str


class PartnerSign(TypedDict):
    """An alias without its id."""

    label: str
    colour: str
    shape: str


class RankingPage(PageView):
    """Partners to put into an order."""

    kind: Literal["ranking"]
    items: list[Alias]
    fixed: list[str]  # ids that are already in order, best first


class GamePage(PageView):
    """A game, which is played over a socket."""

    kind: Literal["game"]
    game: str  # its board
    real_time: bool
    socket: str
    alias: PartnerSign
    flags: list[Labelled]
    practice: bool


class WaitPage(PageView):
    """A waiting room."""

    kind: Literal["wait"]
    until_s: float  # seconds from now until the wait is over, at the latest
    message: str


class DonePage(PageView):
    """The last page."""

    kind: Literal["done"]
    code: str | None
    url: str | None
    payment: str | None
    erasable: NotRequired[bool]  # whether one may have everything erased


# Over the socket of a game, from the server.


class Start(TypedDict):
    """The first message: which game, and what stays the same in it."""

    type: Literal["start"]
    game: str
    tick_hz: float
    ticks: int
    you: int
    layout: Any
    seq: NotRequired[int]  # the last sequence number that the server has taken


class Tick(TypedDict):
    """What one seat sees after a step."""

    type: Literal["tick"]
    t: int
    score: float
    left_s: float | None
    view: Any  # as the game says: GridView, HanabiView or SceneView


class Ack(TypedDict):
    """A message was taken and stored."""

    type: Literal["ack"]
    seq: int
    t: int


class Pause(TypedDict):
    """The game waits."""

    type: Literal["pause"]
    reason: str
    grace_s: float


class Countdown(TypedDict):
    """Then the game begins, or goes on."""

    type: Literal["countdown"]
    seconds: float


class Ready(TypedDict):
    """The game begins when everyone has pressed a key."""

    type: Literal["ready"]
    pressed: bool


class Moved(TypedDict):
    """Another process plays this game."""

    type: Literal["moved"]
    socket: str


class End(TypedDict):
    """The game is over and stored."""

    type: Literal["end"]
    score: float
    next: bool
    reason: NotRequired[str]  # "stopped": the partner takes part no more


class Pong(TypedDict):
    """The answer to a ping."""

    type: Literal["pong"]
    at: float


class Elsewhere(TypedDict):
    """The game was opened in another window, which plays on."""

    type: Literal["elsewhere"]


class Error(TypedDict):
    """A message was refused."""

    type: Literal["error"]
    message: str


FromServer = Start | Tick | Ack | Pause | Countdown | Ready | Moved | End | Pong | Elsewhere | Error


# Over the socket of a game, from the browser.


class Hello(TypedDict):
    """The first message: the last tick that was seen, and the page that is shown."""

    type: Literal["hello"]
    seen: int
    page: str
    acknowledges: bool  # whether ticks are answered with `seen`


class Seen(TypedDict):
    """This tick was drawn."""

    type: Literal["seen"]
    t: int


class PressedReady(TypedDict):
    """The participant is ready to begin."""

    type: Literal["ready"]


class Act(TypedDict):
    """An action."""

    type: Literal["act"]
    seq: int
    action: str
    t: NotRequired[int]  # the tick that a move answers


class FlagPress(TypedDict):
    """A flag button was pressed."""

    type: Literal["flag"]
    seq: int
    id: str
    t: int


class Chat(TypedDict):
    """A message to the partner."""

    type: Literal["chat"]
    seq: int
    text: str


class Visibility(TypedDict):
    """The tab was hidden or shown."""

    type: Literal["visibility"]
    hidden: bool


class Ping(TypedDict):
    """Measures the round trip."""

    type: Literal["ping"]
    at: float
    rtt_ms: float | None


ToServer = Hello | Seen | PressedReady | Act | FlagPress | Chat | Visibility | Ping
OurPage = ConsentPage | FormPage | InstructionsPage | QuizPage | RankingPage | GamePage | WaitPage | DonePage


# What games show of themselves.


class Actor(TypedDict):
    """Somebody on a grid."""

    x: int
    y: int
    facing: str  # north, south, east, west; or up, down, right, left
    held: str | None
    detail: NotRequired[str | None]  # of what is held
    seat: int
    role: NotRequired[str]
    guarded: NotRequired[bool]  # may work in danger zones


class Item(TypedDict):
    """A thing on a grid."""

    x: int
    y: int
    kind: str
    detail: NotRequired[str | None]  # a soup: "onions,tomatoes"; a victim: "treated", "seen" (not reported) or "40 %"


class Pot(TypedDict):
    """A pot and what is in it."""

    x: int
    y: int
    onions: int
    tomatoes: int
    timer: int  # below 0: not cooking, 0: ready


class GridView(TypedDict):
    """Overcooked, and search and rescue."""

    width: int
    height: int
    terrain: list[str]
    chefs: list[Actor]
    items: list[Item]
    pots: list[Pot]
    unseen: NotRequired[list[tuple[int, int]]]  # cells that this seat does not see


class Card(TypedDict):
    """A card of Hanabi as one seat sees it."""

    id: NotRequired[int]  # the place in the deal, so that notes stay with their card
    colour: str | None  # null: this seat does not see it
    rank: int | None
    colours: NotRequired[list[str] | str | None]  # what hints leave possible
    ranks: NotRequired[list[int] | None]


class CardFace(TypedDict):
    """A card that all see."""

    colour: str
    rank: int


class Move(TypedDict):
    """Something that can be done now."""

    action: str
    label: str
    kind: NotRequired[str]
    target: NotRequired[int | None]
    value: NotRequired[int | str | None]
    group: NotRequired[str]  # what many of this kind are together


class Done(TypedDict):
    """A move that was made, told in the reader's language by its parts; `text` where there are none."""

    t: NotRequired[int]
    seat: NotRequired[int]
    kind: NotRequired[str]
    card: NotRequired[CardFace | None]  # played or discarded
    fits: NotRequired[bool]  # whether a played card did
    value: NotRequired[str | int | None]  # of a hint
    target: NotRequired[int | None]
    cards: NotRequired[list[int]]  # that a hint points at, from 1
    text: str


class HanabiView(TypedDict):
    """A game of Hanabi as one seat sees it."""

    hands: list[list[Card]]  # by seat
    fireworks: dict[str, int]
    tokens: int
    lives: int
    deck: int
    discards: list[Card]
    legal: list[Move]
    history: list[Done]
    your_turn: bool


class Message(TypedDict):
    """Something that was said."""

    seat: int
    text: str
    asks: NotRequired[list[str]]  # macro actions that it asks for


class SceneView(TypedDict):
    """The kitchen, and any game that is shown by its scene."""

    text: str
    svg: str | None
    messages: NotRequired[list[Message]]
    legal: list[Move]
    your_turn: NotRequired[bool]  # false while an act is under way
    doing: NotRequired[str | None]  # that act, in words
    role: NotRequired[str]
    order: NotRequired[list[str]]  # the dish and how it is made; empty for those who do not know; none in other games
    requests: NotRequired[list[Move]]  # what the partner could be asked to do; said as their `action`
    steps_left: NotRequired[int]
