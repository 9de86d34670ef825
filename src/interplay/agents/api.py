"""Who acts. A policy is pure JAX and runs inside compiled rollouts; a player is any Python object.

Either sits in any seat. An `Agent` is one of the two with a name and an identity, which is what traces record.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.agents.identity import content_hash, source_of
from interplay.errors import InterplayError
from interplay.games.api import Game

Memory = Any
Observation = Any


class Info(NamedTuple):
    """What a policy tells of its choice."""

    logits: Float[Array, " action"]


class Policy(eqx.Module):
    """A pure function from memory and observation to an action.

    Policies that differ in array values only share one compiled program, so whatever tells two policies of a family
    apart belongs into arrays, not into static fields.

    A policy that others will meet in traces declares who it is: a class attribute `identity_kind`, a `version` that
    rises when the same weights would act differently, and a method `fingerprint()` that gives settings and weights by
    names that stay. Without them it counts by the source of its class (see `agents.identity`).
    """

    def bind(self, game: Game) -> Policy:
        """This policy made ready for a game; an error if it cannot play it."""
        return self

    @property
    def encoding(self) -> str:
        """The name of the game's encoding that `act` reads."""
        raise NotImplementedError

    def init(self, key: PRNGKeyArray, seat: Int[Array, ""]) -> Memory:
        """Memory at the start of an episode."""
        return ()

    def act(
        self, memory: Memory, obs: Observation, legal: Bool[Array, " action"], key: PRNGKeyArray
    ) -> tuple[Memory, Int[Array, ""], Info]:
        """Choose; called every turn, on turn or off, so that memory sees all."""
        raise NotImplementedError


@dataclass(frozen=True)
class TraceEvent:
    """Something that goes into a trace beside the actions: a message, a plan, a verdict, a timing."""

    kind: str
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Move:
    """An action with the events that go into the trace beside it."""

    action: int
    events: Sequence[TraceEvent] = ()


@dataclass(frozen=True)
class View:
    """What a player is shown when it is to move, and nothing more."""

    game: Game
    seat: int
    t: int
    legal: np.ndarray  # [action] bool
    observation: Any  # in the player's encoding
    text: Callable[[], str]  # the game rendered for this seat
    see: Callable[[str], Any] | None = None  # this seat's view in another encoding, for players of several games

    def look(self, encoding: str) -> Any:
        """What this seat sees in an encoding. Over a wire, where `see` is none, that is the player's own one."""
        if self.see is not None:
            return self.see(encoding)
        if np.shape(self.observation) == (0,):
            raise InterplayError(
                f"here a player is shown its own encoding only: make the agent with encoding={encoding!r}"
            )
        return self.observation


def refuse_privileged(game: Game, encoding: str) -> None:
    """A seat may look at the game in any encoding but those that show what it may not see."""
    if encoding not in game.encodings or game.encodings[encoding].privileged:
        seen = ", ".join(name for name, e in game.encodings.items() if not e.privileged)
        raise InterplayError(f"a player cannot look at {game.id} as {encoding!r}; it may see: {seen}")


class Session(Protocol):
    """A player in one seat of one episode.

    One that has a `watch(view)` is shown the turns of others by it. One that says `immediate = True` promises that its
    `act` never waits for anything.
    """

    async def act(self, view: View) -> int | Move:
        """Choose an action."""
        ...


@runtime_checkable
class Player(Protocol):
    """Any Python object that can sit down at a game: an LLM, a person, a remote client, a PyTorch model."""

    encoding: str
    deadline_s: float | None  # after this long the default action is taken
    default_action: int | None  # None: the first legal action

    def begin(self, game: Game, seat: int, seed: int) -> Session: ...


@dataclass(frozen=True)
class FunctionPlayer:
    """A player made of any callable from an observation (and the legal mask, if it takes two) to an action.

    Without a deadline it is called where it stands; with one, in a thread, so that nobody waits longer for it. Traces
    know it by its source, or by the `version` that you give it.
    """

    identity_kind: ClassVar[str] = "function"
    function: Callable[..., int]
    encoding: str
    deadline_s: float | None = None
    default_action: int | None = None
    version: str | None = None  # what stands for the function in traces; None: its source

    def fingerprint(self) -> Mapping[str, Any]:
        """Which function it is."""
        return {"function": source_of(self.function) if self.version is None else self.version, "reads": self.encoding}

    def begin(self, game: Game, seat: int, seed: int) -> Session:
        takes_legal = len(inspect.signature(self.function).parameters) > 1
        return _FunctionSession(self.function, takes_legal, self.deadline_s is None)


@dataclass(frozen=True)
class _FunctionSession:
    function: Callable[..., int]
    takes_legal: bool
    immediate: bool  # a thread for every action would cost more than most decisions

    async def act(self, view: View) -> int:
        arguments = (view.observation, view.legal) if self.takes_legal else (view.observation,)
        if self.immediate:
            return int(self.function(*arguments))
        return int(await asyncio.to_thread(self.function, *arguments))


@dataclass(frozen=True)
class Agent:
    """A policy or a player with the name and identity under which it appears in traces and tables."""

    name: str
    policy: Policy | Player
    config: Mapping[str, Any] = field(default_factory=dict)  # plain JSON values that tell how it was made
    kind: str = ""  # what it is, in words that stay; registered agents have their registered name

    @property
    def is_policy(self) -> bool:
        """Whether it is pure JAX, and can run in compiled programs."""
        return isinstance(self.policy, Policy)

    def identity(self, game: Game) -> Identity:
        """What a trace records of this agent at this game.

        Raises:
            InterplayError: The game has no encoding of the name that the agent reads.
        """
        encoding = self.policy.encoding
        if encoding not in game.encodings:
            known = ", ".join(game.encodings)
            raise InterplayError(f"agent {self.name!r} reads the encoding {encoding!r}; {game.id} has {known}")
        return Identity(self.name, content_hash(self), game.encodings[encoding].privileged, dict(self.config))


class Identity(NamedTuple):
    """Who sat in a seat: a name for people, a hash for proof."""

    name: str
    hash: str
    privileged: bool
    config: Mapping[str, Any] = {}


def as_agent(thing: Any, name: str | None = None) -> Agent:
    """An agent from an agent, a registered name, a policy, or a player."""
    if isinstance(thing, Agent):
        return thing
    if isinstance(thing, str):
        from interplay.agents.registry import agent

        return agent(thing)
    if isinstance(thing, Policy) or hasattr(thing, "begin"):
        return Agent(name or type(thing).__name__, thing)
    raise InterplayError(
        f"{thing!r} is neither an agent's name, a Policy nor a Player; wrap a plain function as "
        f"interplay.agents.FunctionPlayer(function, encoding=...)"
    )
