"""Policies, players and agents: the interfaces of everything that acts.

A policy is pure JAX and runs inside compiled rollouts; a player is any Python object. Either can sit in any seat. An
`Agent` is one of the two with a name and an identity, which is what traces record.
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

from interplay.agents.identity import content_hash, function_facts
from interplay.errors import InterplayError
from interplay.games.api import Game

Memory = Any  # what a policy carries from step to step: a tree of arrays of its own
Observation = Any  # an array, or a record of arrays, as the encoding says


class Info(NamedTuple):
    """What a policy reports about its choice: the logits over actions."""

    logits: Float[Array, " action"]


class Policy(eqx.Module):
    """A pure function from memory and observation to an action.

    Policies that differ in array values only share one compiled program, so whatever tells two policies of a family
    apart belongs into arrays, not into static fields.

    A policy whose traces are kept should declare its identity: a class attribute `identity_kind`, a `version` that is
    raised when the same weights would act differently, and a method `fingerprint()` that returns settings and weights
    under stable names. Without them the source of its class stands for it (see `agents.identity`).
    """

    def bind(self, game: Game) -> Policy:
        """Return this policy prepared for a game.

        Raises:
            InterplayError: The policy cannot play the game.
        """
        return self

    @property
    def encoding(self) -> str:
        """Name of the game's encoding that `act` reads."""
        raise NotImplementedError

    def init(self, key: PRNGKeyArray, seat: Int[Array, ""]) -> Memory:
        """Return the memory at the start of an episode."""
        return ()

    def act(
        self, memory: Memory, obs: Observation, legal: Bool[Array, " action"], key: PRNGKeyArray
    ) -> tuple[Memory, Int[Array, ""], Info]:
        """Choose an action.

        Called in every step, also when it is another seat's turn, so that the memory sees every observation.

        Returns:
            The new memory, the action, and the logits.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class TraceEvent:
    """An entry of a trace beside the actions: a message, a plan, a verdict, a timing."""

    kind: str
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Move:
    """An action together with the events to record with it."""

    action: int
    events: Sequence[TraceEvent] = ()


@dataclass(frozen=True)
class View:
    """What a player sees when it is to move."""

    game: Game
    seat: int
    t: int
    legal: np.ndarray  # [action] bool
    observation: Any  # in the player's encoding
    text: Callable[[], str]  # the game rendered for this seat
    see: Callable[[str], Any] | None = None  # this seat's view in another encoding, for players of several games

    def look(self, encoding: str) -> Any:
        """Return this seat's observation in an encoding.

        A remote player (`see` is None) can only be given its own encoding.

        Raises:
            InterplayError: The player is remote and has no observation.
        """
        if self.see is not None:
            return self.see(encoding)
        if np.shape(self.observation) == (0,):
            raise InterplayError(
                f"here a player is shown its own encoding only: make the agent with encoding={encoding!r}"
            )
        return self.observation


def refuse_privileged(game: Game, encoding: str) -> None:
    """Check that a player may read an encoding.

    Raises:
        InterplayError: The game has no such encoding, or it shows what the seat may not see.
    """
    if encoding not in game.encodings or game.encodings[encoding].privileged:
        seen = ", ".join(name for name, e in game.encodings.items() if not e.privileged)
        raise InterplayError(f"a player cannot look at {game.id} as {encoding!r}; it may see: {seen}")


class Session(Protocol):
    """A player in one seat of one episode.

    A session may also have a method `watch(view)`, called in the turns of others, and a method `close()`, called when
    the episode is over, however it ended. A session with `immediate = True` promises that its `act` never waits.
    """

    async def act(self, view: View) -> int | Move:
        """Choose an action."""
        ...


@runtime_checkable
class Player(Protocol):
    """Any Python object that can play: an LLM, a person, a remote client, a PyTorch model."""

    @property
    def encoding(self) -> str:
        """What it reads."""
        ...

    @property
    def deadline_s(self) -> float | None:
        """After how long the default action is taken; None: never."""
        ...

    @property
    def default_action(self) -> int | None:
        """What is done for it then; None: the first legal action."""
        ...

    def begin(self, game: Game, seat: int, seed: int) -> Session:
        """Start a session in a seat of a new episode."""
        ...


@dataclass(frozen=True)
class FunctionPlayer:
    """A player made of a callable from an observation (and the legal mask, if it takes two arguments) to an action.

    Without a deadline the function is called directly; with one it runs in a thread. Its identity in traces is its
    source with the numbers, words and arrays that it was made with (a closure's, a partial's, a callable object's), or
    `version` if that is set: for a network of another library, say, whose weights are no arrays of NumPy or JAX.
    """

    identity_kind: ClassVar[str] = "function"
    function: Callable[..., int]
    encoding: str
    deadline_s: float | None = None
    default_action: int | None = None
    version: str | None = None  # identifies the function in traces; None: its source does
    _facts: Any = field(init=False, repr=False, compare=False)  # as it was made: calls may change what it holds

    def __post_init__(self) -> None:
        """Look that there is a function to call, and note what tells it from others."""
        if not callable(self.function) or inspect.iscoroutinefunction(self.function):
            raise InterplayError(
                f"{self.function!r:.80} is no ordinary function from an observation to an action; what waits for its "
                f"answer is a player (interplay.agents.Player)"
            )
        object.__setattr__(self, "_facts", function_facts(self.function) if self.version is None else self.version)

    def fingerprint(self) -> Mapping[str, Any]:
        """Return what tells the function from others (or its version) and the encoding."""
        return {"function": self._facts, "reads": self.encoding}

    def begin(self, game: Game, seat: int, seed: int) -> Session:
        """Start a session that calls the function."""
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
            return self.function(*arguments)
        return await asyncio.to_thread(self.function, *arguments)


@dataclass(frozen=True)
class Agent:
    """A policy or a player with the name and identity that traces and tables show."""

    name: str
    policy: Policy | Player
    config: Mapping[str, Any] = field(default_factory=dict)  # plain JSON values: how it was made
    kind: str = ""  # stable kind; registered agents have their registered name

    @property
    def is_policy(self) -> bool:
        """Whether it is pure JAX and can run in compiled rollouts."""
        return isinstance(self.policy, Policy)

    def identity(self, game: Game) -> Identity:
        """Return what a trace records of this agent in this game.

        Raises:
            InterplayError: The game has no encoding of the name that the agent reads.
        """
        encoding = self.policy.encoding
        if encoding not in game.encodings and isinstance(self.policy, Policy):
            encoding = self.policy.bind(game).encoding  # a network of another framework may read one of several
        if encoding not in game.encodings:
            known = ", ".join(game.encodings)
            raise InterplayError(f"agent {self.name!r} reads the encoding {encoding!r}; {game.id} has {known}")
        return Identity(self.name, content_hash(self), game.encodings[encoding].privileged, dict(self.config))


class Identity(NamedTuple):
    """The name and content hash of the agent in a seat."""

    name: str
    hash: str
    privileged: bool
    config: Mapping[str, Any] = {}


def as_agent(thing: Any, name: str | None = None, *, game: Game | None = None) -> Agent:
    """Return an agent from an agent, a registered name, a policy or a player.

    Args:
        thing: The agent, or what becomes one.
        name: What to call a policy or player.
        game: The game to be played: it fills the place for the layout in a name such as `trained/.../{layout}/hsp-1`.

    Raises:
        InterplayError: `thing` is none of these.
    """
    if isinstance(thing, Agent):
        return thing
    if isinstance(thing, str):
        from interplay.agents.registry import agent, name_in

        return agent(thing if game is None else name_in(thing, game))
    if isinstance(thing, Policy) or hasattr(thing, "begin"):
        return Agent(name or type(thing).__name__, thing)
    raise InterplayError(
        f"{thing!r} is neither an agent's name, a Policy nor a Player; wrap a plain function as "
        f"interplay.FunctionPlayer(function, encoding=...)"
    )
