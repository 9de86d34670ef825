"""Small games for the tests of traces, and episodes of them. `make` finds the games by `module:Thing`."""

from __future__ import annotations

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from interplay.agents.api import Identity
from interplay.games.api import Encoding, Game, Step, is_jax
from interplay.games.checksum import checksum
from interplay.games.records import record
from interplay.games.state_arrays import pack
from interplay.rollout.episode import Episode, RecordedEvent


@record
class Walk:
    time: Int[Array, ""]
    place: Int[Array, " seat"]
    goal: Int[Array, ""]
    slope: Float[Array, " seat"]
    height: Float[Array, " seat"]


class Toy:
    """Seats walk along a line until all stand on a goal that chance has set. `left` is not allowed at 0."""

    pure: ClassVar[bool] = True
    action_names = ("left", "right", "stay")
    event_names = ("moved", "arrived")
    encodings: ClassVar = {"full": Encoding((3,), "int32", "all", privileged=True)}
    rules_version = "1"
    replayable = True

    def __init__(self, seats: int = 2, horizon: int = 40):
        self.id = f"{__name__}:{type(self).__name__}"
        self.options = {"seats": seats, "horizon": horizon}
        self.num_seats, self.horizon = seats, horizon
        self.seat_names = tuple(f"walker {i}" for i in range(seats))

    def init(self, key, goal=None, slope=None):
        for_goal, for_slope = jax.random.split(key)
        goal = jax.random.randint(for_goal, (), 2, 6) if goal is None else goal
        slope = jax.random.uniform(for_slope, (self.num_seats,)) if slope is None else slope
        zeros = jnp.zeros(self.num_seats, jnp.int32)
        return Walk(
            time=jnp.int32(0),
            place=zeros,
            goal=jnp.asarray(goal, jnp.int32),
            slope=jnp.asarray(slope, jnp.float32),
            height=jnp.zeros(self.num_seats, jnp.float32),
        )

    def start(self, state):
        return {"goal": np.asarray(state.goal), "slope": np.asarray(state.slope)}

    def step(self, state, actions, key):
        move = jnp.array([-1, 1, 0])[jnp.asarray(actions)]
        place = jnp.maximum(state.place + move, 0)
        arrived = (place == state.goal) & (state.place != state.goal)
        after = Walk(
            time=state.time + 1,
            place=place,
            goal=state.goal,
            slope=state.slope,
            height=state.height + state.slope * (place - state.place),
        )
        step = Step(
            reward=jnp.where(arrived, 5.0, 0.0),
            shaped=jnp.zeros(self.num_seats),
            terminated=jnp.all(place == state.goal),
            truncated=after.time >= self.horizon,
            events=jnp.stack([place != state.place, arrived], axis=-1).astype(jnp.int32),
        )
        return after, step

    def observe(self, state, encoding):
        return jnp.stack([state.place, jnp.broadcast_to(state.goal, state.place.shape)], axis=-1)

    def legal(self, state):
        return jnp.stack([state.place > 0, state.place >= 0, state.place >= 0], axis=-1)

    def to_move(self, state):
        return jnp.ones(self.num_seats, bool)

    def render(self, state, seat=None):
        return str(state.place)

    def scene(self, state, seat=None):
        raise NotImplementedError


class Slow(Toy):
    """The same game, but not pure JAX."""

    pure: ClassVar[bool] = False


class Fate(Toy):
    """Chance strikes within its steps: it cannot be replayed."""

    pure: ClassVar[bool] = False
    replayable = False


class Broken(Toy):
    """A game of a user that fails when it is played again."""

    def init(self, key, goal=None, slope=None):
        raise RuntimeError("no power in the basement")


def play(game: Game, *, seed: int = 0, index: int = 0, every: int = 7, events: bool = True) -> Episode:
    """One episode of random legal actions, recorded step by step: slow, and independent of the code under test."""
    rng = np.random.default_rng([seed, index])
    key = jax.random.key(int(rng.integers(2**31)))
    state = game.init(key)
    start = {name: np.asarray(value) for name, value in game.start(state).items()}
    actions, steps, states = [], [], [state]
    over = False
    while not over:
        legal = np.asarray(game.legal(state))
        chosen = np.array([rng.choice(np.flatnonzero(row)) for row in legal], dtype=np.int16)
        state, step = game.step(state, chosen, key)
        actions.append(chosen)
        steps.append(step)
        states.append(state)
        over = bool(step.terminated) or bool(step.truncated)
    checked = sorted({*range(0, len(actions), every), len(actions)})
    remarks = (
        RecordedEvent(t=0, seq=0, seat=0, kind="message", payload={"text": "I go first, ∀ of us’ll arrive", "to": [1]}),
        RecordedEvent(t=0, seq=1, seat=None, kind="verdict", payload={"fair": True, "share": 0.1}),
        RecordedEvent(t=2, seq=0, seat=game.num_seats - 1, kind="timing", payload={"ms": 12.5}),
    )
    return Episode(
        game_id=game.id,
        options=game.options,
        rules_version=game.rules_version,
        agents=tuple(Identity(f"walker/{i}", f"{i:016x}", i == 1, {"pace": i}) for i in range(game.num_seats)),
        seed=seed,
        index=index,
        start=start,
        actions=np.array(actions, dtype=np.int16),
        check_steps=np.array(checked, dtype=np.int32),
        checks=np.array([int(checksum(states[t])) for t in checked], dtype=np.uint32),
        rewards=np.sum([np.asarray(s.reward, np.float64) for s in steps], axis=0),
        terminated=bool(steps[-1].terminated),
        events=remarks if events else (),
        states=None if game.replayable else pack(game, states, steps),
    )


def jitted(game: Game) -> Game:
    """The game with compiled rules, so that playing many episodes in a test is quick."""
    assert is_jax(game)
    game.step, game.legal = jax.jit(game.step), jax.jit(game.legal)  # type: ignore[method-assign]
    return game


def invented(n: int, length: int = 400, seats: int = 2) -> list[Episode]:
    """Episodes of no game: as many as wanted, at once, to test the store alone."""
    rng = np.random.default_rng(0)
    steps = np.array(sorted({*range(0, length, 50), length}), dtype=np.int32)
    agents = tuple(Identity(f"agent {s}", f"{s:016x}", False, {}) for s in range(seats))
    return [
        Episode(
            game_id="invented",
            options={"length": length},
            rules_version="1",
            agents=agents,
            seed=0,
            index=i,
            start={"deck": rng.permutation(50).astype(np.int8)},
            actions=rng.integers(0, 6, (length, seats), dtype=np.int16),
            check_steps=steps,
            checks=rng.integers(0, 2**32, len(steps), dtype=np.uint32),
            rewards=rng.integers(0, 9, seats).astype(np.float64),
            terminated=False,
        )
        for i in range(n)
    ]
