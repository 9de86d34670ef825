"""Games in play with somebody outside: a person in a browser, a candidate over the wire. One engine for both.

A `LiveTable` is one game; a `LiveEngine` plays all tables of one game with their partners. The caller says what the
seats of people do, step by step; partners think between steps, and what they choose is in `table.pending`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Agent, Identity, Move, Policy, TraceEvent
from interplay.agents.dialogue import DialogueMessage, can_talk
from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.rollout.episode import Episode, EpisodeRecorder, EventLog
from interplay.rollout.seat import Seat, bound
from interplay.rollout.worker_threads import PlayerWorker, result_now, wait_for


class PartnerFault(Exception):
    """A partner or the game failed: not the fault of whoever plays with it."""


class PartnerId(NamedTuple):
    """A partner by the name that its host gives it; of several agents under one name, one of them."""

    name: str
    member: int = 0


@dataclass(eq=False)
class LiveTable:
    """One game in play. The engine's thread writes it while a step is under way; at all other times it may be read."""

    chance: tuple[int, int]  # what chance decides, as the data of the episode's key
    bots: Mapping[int, str]  # by seat, the name of a partner; the other seats are people's
    watch: Callable[[LiveTable, Any, Any, np.ndarray], None] | None = (
        None  # called after a step: before, after, actions
    )
    latched: bool = False  # in real time, what a player chooses late is done late
    encoding: str | None = None  # what people's seats see is made in this encoding, as `observation`
    observed: Callable[[LiveTable], None] | None = None  # called when that was made, at the start and after every step
    recorder: EpisodeRecorder | None = None  # once the game has begun
    read_state: Callable[[], Any] = lambda: None  # makes the state, which is not always asked for
    row: Any = None  # [byte] the state and what else the next step depends on, of games in JAX
    legal: Any = None  # [seat, action]
    turn: Any = None  # [seat]
    observation: Any = None  # [seat, ...] in `encoding`
    memory: dict[int, Any] = field(default_factory=dict)  # by policy's seat
    players: dict[int, PlayerWorker] = field(default_factory=dict)  # by player's seat
    pending: dict[int, Move | Future] = field(default_factory=dict)  # what each partner will do, or will have chosen
    log: EventLog = field(default_factory=EventLog)  # events so far, written by the event loop alone
    states: list[Any] = field(default_factory=list)  # all so far, of games in plain Python
    partners: Any = None  # where partners think and talk, of games in plain Python
    emit: Callable[[int | None, TraceEvent], object] = lambda seat, event: None  # receives partners' events, any thread
    notes: Any = None  # what `watch` keeps
    macro_actions: dict[int, str | None] = field(default_factory=dict)  # what people are at, in games played by these
    speech: dict[int, Any] = field(default_factory=dict)  # by seat, in which words the game speaks

    @property
    def state(self) -> Any:
        """The state of the game as it is."""
        return self.read_state()

    @state.setter
    def state(self, state: Any) -> None:
        self.read_state = lambda: state

    @property
    def key(self) -> Any:
        """The episode's key."""
        return jax.random.wrap_key_data(jnp.array(self.chance, jnp.uint32))

    @property
    def t(self) -> int:
        """Steps played."""
        return 0 if self.recorder is None else self.recorder.t

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.recorder is not None and self.recorder.done

    @property
    def score(self) -> float:
        """The team's points so far."""
        return 0.0 if self.recorder is None else self.recorder.score

    @property
    def actions(self) -> list[np.ndarray]:
        """The joint actions so far."""
        return [] if self.recorder is None else self.recorder.actions

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat in range(len(self.turn)) if seat not in self.bots]

    def add_event(self, seat: int | None, kind: str, payload: Mapping[str, Any], t: int | None = None) -> None:
        """Note an event of now, or of a time given."""
        self.log.add(self.t if t is None else t, seat, TraceEvent(kind, payload))

    def break_off(self) -> None:
        """End the game here, with the score that it has."""
        assert self.recorder is not None
        self.recorder.done = True
        self.recorder.keep_check()

    def episode(self, agents: Sequence[Identity], index: int) -> Episode:
        """What happened, as a trace holds it; the seed is not told, since what chance decided stands in `start`."""
        assert self.recorder is not None
        self.recorder.log = self.log
        return self.recorder.episode(agents, 0, index)

    def close(self) -> None:
        """Let go of whoever thinks for this table."""
        for player in self.players.values():
            player.close()
        if self.partners is not None:
            self.partners.close()


class PartnerRegistry:
    """The partners that may be met at the tables of a game: agents by name, and several under one name."""

    def __init__(self, game: Game, partners: Mapping[str, Agent | Sequence[Agent]]):
        """Look that every partner can sit down at this game: better now than with somebody waiting."""
        self.agents = {name: (a,) if isinstance(a, Agent) else tuple(a) for name, a in partners.items()}
        self.identities: dict[PartnerId, Identity] = {}
        self.policies: dict[PartnerId, Policy] = {}
        for name, members in self.agents.items():
            for number, agent in enumerate(members):
                partner = PartnerId(name, number)
                self.identities[partner] = agent.identity(game)
                if isinstance(agent.policy, Policy):
                    self.policies[partner] = bound(agent.policy, game)
                elif not can_talk(agent.policy, game):
                    Seat(game, agent, game.num_seats - 1, jax.random.key(0)).close()

    def at(self, table: LiveTable, seat: int) -> PartnerId:
        """Who sits there: of several, one that chance chose with the game, so that a resumed game has the same."""
        name = table.bots[seat]
        return PartnerId(name, (table.chance[0] + seat) % len(self.agents[name]))

    def agent(self, partner: PartnerId) -> Agent:
        """The agent behind a partner's name."""
        return self.agents[partner.name][partner.member]


class LiveEngine:
    """Plays the tables of one game with their partners."""

    def __init__(self, game: Game, partners: Mapping[str, Agent | Sequence[Agent]]):
        if not game.replayable:
            raise InterplayError(f"{game.id} cannot be played live: what was played could not be brought back")
        self.game, self.registry = game, PartnerRegistry(game, partners)

    def begin(self, table: LiveTable, before: Sequence[Sequence[int]] = ()) -> Future:
        """Deal, and play again the joint actions that were played before."""
        raise NotImplementedError

    def step(self, table: LiveTable, actions: np.ndarray, *, until_asked: bool = False) -> Future:
        """Play one joint action; when the future is done the table says what came of it, and partners think on.

        With `until_asked`, for tables that go on alone: go on until one of the people is to move or the game is over.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Stop the engine's threads."""
        raise NotImplementedError

    def goes_on_alone(self, table: LiveTable) -> bool:
        """Whether the engine can play on by itself while no person is to move."""
        return False

    def resume(self, table: LiveTable) -> None:
        """All events of before are in the log: partners who talk take them in."""

    def ask_partners(self, table: LiveTable) -> None:
        """People have chosen: `table.pending` holds what each partner will do."""

    def say(self, table: LiveTable, message: DialogueMessage) -> None:
        """A person speaks to partners who listen."""

    def warm(self, encoding: str | None = None) -> None:
        """Compile all that playing needs."""


def live_engine(
    game: Game, partners: Mapping[str, Agent | Sequence[Agent]], *, sizes: Sequence[int] | None = None
) -> LiveEngine:
    """The engine for a game: compiled for games in JAX, step by step for others.

    Args:
        game: A game that can be replayed, so that what was played before can be brought back.
        partners: The agents that may be met in it.
        sizes: How many tables a compiled program may step together.
    """
    from interplay.rollout.live_compiled import SIZES, CompiledEngine
    from interplay.rollout.live_python import PythonEngine

    if is_jax(game):
        return CompiledEngine(game, partners, sizes=sizes or SIZES)
    return PythonEngine(game, partners)


def default_action(table: LiveTable, seat: int) -> int:
    """What a partner does that has not chosen in time."""
    player = table.players.get(seat)
    return int(np.argmax(table.legal[seat])) if player is None else player.default_action(table.legal[seat])


async def play_on(
    engine: LiveEngine, table: LiveTable, chosen: Mapping[int, int], *, until_asked: bool, think_s: float | None = None
) -> None:
    """Play the actions that people have chosen, and their partners'.

    Args:
        engine: The engine of the table's game.
        table: A table that has begun.
        chosen: By seat; seats that are not named and not partners' wait.
        until_asked: Go on until one of the people is to move or the game is over.
        think_s: How long partners that are Python objects may think; None: as long as their own deadlines allow.

    Raises:
        PartnerFault: A partner failed.
    """
    while True:
        engine.ask_partners(table)
        moving = [seat for seat in table.bots if table.turn[seat]]
        await wait_for([table.pending.get(seat) for seat in moving], think_s)
        actions = np.argmax(table.legal, axis=-1).astype(np.int32)
        for seat in moving:
            choice = table.pending.get(seat)
            move = result_now(choice)
            if move is None and isinstance(choice, Future) and choice.done():
                raise PartnerFault(f"a partner failed: {type(choice.exception()).__name__}")
            actions[seat] = default_action(table, seat) if move is None else move.action
            for event in move.events if move is not None else ():
                table.add_event(seat, event.kind, event.payload)
        for seat, action in chosen.items():
            actions[seat] = action
        alone = until_asked and engine.goes_on_alone(table)
        await asyncio.wrap_future(engine.step(table, actions, until_asked=alone))
        chosen = {}
        if table.done or not until_asked or any(table.turn[seat] for seat in table.people):
            return
