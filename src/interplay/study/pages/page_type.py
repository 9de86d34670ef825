"""What a type of page is: how it is written in a study file, shown, checked and answered by simulated participants.

A package adds a type of page by one class and one line in its `pyproject.toml` (`examples/own_page` is one):

    [project.entry-points."interplay.study_pages"]
    allocation = "own_page.allocation:AllocationPages"
"""

from __future__ import annotations

import functools
import random
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from typing import Protocol as Interface

from interplay.errors import InterplayError
from interplay.registry import Registry
from interplay.study.protocol.aliases import Alias
from interplay.study.protocol.model import Protocol, StudyPage
from interplay.study.protocol.texts import Text, phrase, say
from interplay.study.protocol.validation import PageScope

if TYPE_CHECKING:
    from interplay.study.protocol.flow import Page


Spec = TypeVar("Spec", bound=StudyPage)
Answers = Mapping[str, Any]


class SimulatedOpinion(Interface):
    """What a simulated participant thinks, from which it answers."""

    chance: random.Random
    last: str  # the label of the last partner's alias; empty before the first game

    def liking(self, alias: str) -> float:
        """Return how well games with a partner went against all games: about -1 to 1."""
        ...

    def answer_question(self, question: Mapping[str, Any]) -> Any:
        """Return the answer to a question as the browser is sent it."""
        ...


class Checked(NamedTuple):
    """The answers to a page: what is stored, and what is wrong by question. They are stored if nothing is wrong."""

    answers: dict[str, Any]
    errors: dict[str, str]


@dataclass(frozen=True)
class PageVisit:
    """One participant at one page."""

    protocol: Protocol
    page: Page
    language: str
    aliases: Mapping[str, Alias]  # by partner: what it is called for this participant
    values: Mapping[str, str] = field(default_factory=dict)  # of `{alias}`, `{turn}`, ... in texts
    tries: int = 0  # used up at this page
    failed: Answers | None = None  # the answers of the last try, if it did not pass
    earlier: Answers | None = None  # the answers to the last page of this type in the same repeat over partners
    figures: Mapping[str, str] = field(default_factory=dict)  # pictures of the games at their start, by game
    seed: int = 0  # of the participant: draws orders
    facts: Answers = field(default_factory=dict)  # the last answer to every question before, and scores

    def say(self, text: Text) -> str:
        """Return a text of the study file in the participant's language, with `{names}` replaced by their values."""
        return say(text, self.language, **self.values)

    def phrase(self, name: str) -> str:
        """Return one of our error messages in the participant's language, in the study's own words if it has any."""
        return phrase(name, self.language, self.protocol.words)


class PageType(Generic[Spec]):
    """A type of page. Subclasses say what differs; they are made once and keep no state.

    Attributes:
        spec: The model of the page in a study file, whose `kind` is a `Literal` of the registered name.
        script: The browser's part, `package:file.js`, an ES module that exports `pages`; None: it is in our bundle.
        answered: Whether participants leave the page by answering it. Games and waiting rooms are left otherwise.
    """

    spec: type[Spec]
    script: str | None = None
    answered: bool = True

    def validate(self, page: Spec, scope: PageScope) -> None:
        """Check a page of a study file against the rest of the file.

        Args:
            page: The page.
            scope: The study and what is around the page.

        Raises:
            ValueError: Something that the page names is not there, or it may not stand here.
        """

    def show(self, page: Spec, visit: PageVisit) -> Mapping[str, Any]:
        """Return what the browser is sent of a page beside its id, title and text: no agents' names, no right answers.

        Args:
            page: The page as the study file has it.
            visit: Who is at it.
        """
        return {}

    def check(self, page: Spec, visit: PageVisit, submitted: Answers) -> Checked:
        """Check what a browser has sent, which may be anything that JSON can hold.

        Args:
            page: The page as the study file has it.
            visit: Who is at it.
            submitted: The answers by question.
        """
        return Checked({}, {})

    def passed(self, page: Spec, answers: Answers) -> bool:
        """Return whether checked answers lead on; whoever fails as often as `tries` allows is screened out."""
        return True

    def tries(self, page: Spec) -> int | None:
        """Return how often the page may be tried; None if every answer passes."""
        return None

    def simulate(self, page: Spec, view: Mapping[str, Any], opinion: SimulatedOpinion) -> dict[str, Any]:
        """Return the answers of a simulated participant.

        Args:
            page: The page as the study file has it.
            view: What the browser is sent.
            opinion: What the participant thinks of the partners.
        """
        return {}


PAGES = Registry(
    "page type",
    entry_points="interplay.study_pages",
    table={
        "consent": "interplay.study.pages.consent:ConsentPages",
        "form": "interplay.study.pages.form:FormPages",
        "quiz": "interplay.study.pages.quiz:QuizPages",
        "instructions": "interplay.study.pages.instructions:InstructionsPages",
        "game": "interplay.study.pages.game:GamePages",
        "wait": "interplay.study.pages.wait:WaitPages",
        "ranking": "interplay.study.pages.ranking:RankingPages",
    },
)


@functools.cache
def page_type(kind: str) -> PageType[Any]:
    """Return the page type of a `kind`.

    Raises:
        InterplayError: No installed package has one of this name, or what it has is no page type.
    """
    made = PAGES.load(kind)()
    if not isinstance(made, PageType):
        raise InterplayError(f"page type {kind!r}: {type(made).__name__} is no subclass of PageType")
    allowed = made.spec.model_fields["kind"].annotation
    if kind not in getattr(allowed, "__args__", ()):
        raise InterplayError(f'page type {kind!r}: its spec needs the field `kind: Literal["{kind}"]`')
    return made


def page_specs() -> dict[str, type[StudyPage]]:
    """Return the models of all page types by `kind`. A package that cannot be loaded is left out with a warning."""
    specs: dict[str, type[StudyPage]] = {}
    for kind in PAGES.names():
        try:
            specs[kind] = page_type(kind).spec
        except Exception as error:
            warnings.warn(f"the page type {kind!r} of an installed package is left out: {error}", stacklevel=2)
    return specs
