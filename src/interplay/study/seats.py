"""One game in play, as both kinds of arenas hold it, and who may be met in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Agent, Identity, Policy, TraceEvent
from interplay.agents.registry import agent as find_agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.rollout.episode import Episode, RecordedEvent

PANEL = "panel:"  # before a panel's name: every game is played with one of its partners


class Who(NamedTuple):
    """A partner of a study by its name there; of a panel, one of its members."""

    name: str
    member: int = 0


@dataclass
class Table:
    """One game. The arena's thread writes it while a step is under way; at all other times it may be read."""

    chance: tuple[int, int]  # decides what chance decides
    bots: Mapping[int, str]  # by seat; the other seats are people's
    watch: Callable[[Table, Any, Any, np.ndarray], None] | None = None  # told every step: before, after, joint
    latched: bool = False  # in real time, what a player chooses late is done late
    state: Any = None
    legal: Any = None  # [seat, action]
    turn: Any = None  # [seat]
    start: Mapping[str, np.ndarray] = field(default_factory=dict)
    actions: list[np.ndarray] = field(default_factory=list)
    check_steps: list[int] = field(default_factory=list)
    checks: list[int] = field(default_factory=list)
    check: int = 0  # of the state as it is
    rewards: Any = None  # [seat]
    terminated: bool = False
    done: bool = False
    memory: dict[int, Any] = field(default_factory=dict)  # by policy's seat
    players: dict[int, Any] = field(default_factory=dict)  # by player's seat
    pending: dict[int, Future] = field(default_factory=dict)  # what each bot will do: a `Choice`
    remarks: list[RecordedEvent] = field(default_factory=list)  # of the event loop alone
    notes: Any = None  # what `watch` keeps
    states: list[Any] = field(default_factory=list)  # all so far, of games that are plain Python
    doing: dict[int, str | None] = field(default_factory=dict)  # what people are at, of games played by acts
    speech: dict[int, Any] = field(default_factory=dict)  # by seat: in which words the kitchen speaks
    talk: Any = None  # where partners think and talk, of games that are plain Python
    emit: Callable[[int | None, TraceEvent], object] = lambda seat, remark: (
        None
    )  # told what they remark, from any thread

    @property
    def t(self) -> int:
        return len(self.actions)

    @property
    def score(self) -> float:
        return float(np.sum(self.rewards))

    def remark(self, seat: int | None, kind: str, payload: Mapping[str, Any], t: int | None = None) -> None:
        at = self.t if t is None else t
        if self.remarks:  # remarks stand in the order of their steps
            at = max(at, self.remarks[-1].t)
        seq = self.remarks[-1].seq + 1 if self.remarks and self.remarks[-1].t == at else 0
        self.remarks.append(RecordedEvent(t=at, seq=seq, seat=seat, kind=kind, payload=dict(payload)))

    def close(self) -> None:
        """Let go of whoever thinks for this table."""
        for player in self.players.values():
            player.close()
        if self.talk is not None:
            self.talk.close()

    def checked(self, every: int) -> None:
        """Keep the checksum of the state as it is, if it is due."""
        if self.check_steps[-1] != self.t and (self.done or self.t % every == 0):
            self.check_steps.append(self.t)
            self.checks.append(self.check)

    def break_off(self) -> None:
        """The game ends here, with the score that it has."""
        self.done = True
        self.checked(1)

    def episode(self, game: Game, agents: Sequence[Identity], index: int) -> Episode:
        """What happened, as a trace holds it."""
        return Episode(
            game_id=game.id,
            options=dict(game.options),
            rules_version=game.rules_version,
            agents=tuple(agents),
            seed=0,  # what chance decided is in `start`
            index=index,
            start=dict(self.start),
            actions=np.array(self.actions, np.int16).reshape(-1, game.num_seats),
            check_steps=np.array(self.check_steps, np.int32),
            checks=np.array(self.checks, np.uint32),
            rewards=np.asarray(self.rewards, np.float64),
            terminated=self.terminated,
            events=tuple(self.remarks),
        )


class Cast:
    """The partners of a game in a study: agents by name, and panels of which every game meets one member."""

    def __init__(self, game: Game, partners: Mapping[str, str | Agent | Sequence[Agent]]):
        self.agents: dict[str, tuple[Agent, ...]] = {}
        for name, given in partners.items():
            self.agents[name] = _members(game, given)
        self.identities = {
            Who(name, at): agent.identity(game) for name, held in self.agents.items() for at, agent in enumerate(held)
        }

    def try_out(self, game: Game) -> None:
        """An error if one of them cannot sit down at this game: better now than with somebody waiting."""
        for who in self.all():
            mind: Any = self.agent(who).policy
            if isinstance(mind, Policy):
                mind.bind(game)
            elif not (hasattr(mind, "talks") and mind.talks(game)):
                mind.begin(game, game.num_seats - 1, 0)

    def who(self, table: Table, seat: int) -> Who:
        """Who sits there: of a panel, a member that chance chose with the game, so that a resumed game has the same."""
        name = table.bots[seat]
        return Who(name, (table.chance[0] + seat) % len(self.agents[name]))

    def agent(self, who: Who) -> Agent:
        return self.agents[who.name][who.member]

    def all(self) -> list[Who]:
        return list(self.identities)


def _members(game: Game, given: str | Agent | Sequence[Agent]) -> tuple[Agent, ...]:
    if isinstance(given, Agent):
        return (given,)
    if not isinstance(given, str):
        return tuple(given)
    if not given.startswith(PANEL):
        return (find_agent(given),)
    from interplay.partners.panels import panel

    found = panel(game, given.removeprefix(PANEL) or None).partners
    if not found:
        raise InterplayError(f"{given}: this panel has no partners for {game.id}")
    return tuple(found)


def key_of(chance: Sequence[int], fold: int) -> Any:
    """A random key of a game."""
    return jax.random.fold_in(jax.random.wrap_key_data(jnp.array(chance, jnp.uint32)), fold)


def seed_of(chance: Sequence[int], seat: int) -> int:
    """The seed of a player in a seat, which folds all that tells this game from others."""
    return int(np.random.SeedSequence([*chance, seat]).generate_state(1)[0])
