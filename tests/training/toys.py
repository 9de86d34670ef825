"""Small games that a network learns within seconds, and that show one thing each."""

import jax
import jax.numpy as jnp
import numpy as np

from interplay.games.api import NOTHING, Encoding, Step, no_observation
from interplay.games.records import record


@record
class State:
    time: jax.Array
    cue: jax.Array


class Toy:
    """Two seats; a cue of two kinds; who names it earns a point. Subclasses say when it is seen and who may speak."""

    pure = True
    replayable = True
    rules_version = "toy-1"
    num_seats = 2
    seat_names = ("one", "two")
    action_names = ("left", "right", "noop")
    event_names = ("right", "wrong")

    def __init__(self, horizon=4):
        self.id = f"tests.training.toys:{type(self).__name__}"
        self.horizon, self.options = horizon, {"horizon": horizon}
        shape = Encoding((4,), "float32", "cue, whether the last step is near, seat")
        self.encodings = {"vector": shape, "nothing": NOTHING}

    def init(self, key):
        return State(time=jnp.int32(0), cue=jax.random.randint(key, (), 0, 2))

    def start(self, state):
        return {}

    def observe(self, state, encoding):
        if encoding == "nothing":
            return no_observation(2)
        cue = jax.nn.one_hot(state.cue, 2) * self.shows(state)
        last = (state.time == self.horizon - 1).astype(jnp.float32)
        return jnp.stack([jnp.concatenate([cue, jnp.stack([last, jnp.float32(seat)])]) for seat in range(2)])

    def step(self, state, actions, key):
        right = (actions == state.cue) & self.pays(state) & self.to_move(state)
        wrong = (actions == 1 - state.cue) & self.pays(state) & self.to_move(state)
        time = state.time + 1
        over = time >= self.horizon
        step = Step(
            reward=right.astype(jnp.float32),
            shaped=jnp.zeros(2, jnp.float32),
            terminated=over & self.ends,
            truncated=over & (not self.ends),
            events=jnp.stack([right, wrong], axis=-1).astype(jnp.int32),
        )
        return State(time=time, cue=self.next_cue(state, key)), step

    ends = False

    def shows(self, state):
        return True

    def pays(self, state):
        return True

    def next_cue(self, state, key):
        return state.cue

    def to_move(self, state):
        return jnp.ones(2, bool)

    def legal(self, state):
        turn = self.to_move(state)
        return jnp.stack([turn, turn, ~turn], axis=-1)

    def render(self, state, seat=None):
        return f"step {int(state.time)}, cue {int(state.cue)}"

    def scene(self, state, seat=None):
        raise NotImplementedError


class Match(Toy):
    """The cue is always there."""


class Ending(Toy):
    """The same, but it ends by its rules and not by the horizon."""

    ends = True


class Recall(Toy):
    """The cue is seen in the first step only, and asked for in the last."""

    ends = True

    def shows(self, state):
        return state.time == 0

    def pays(self, state):
        return state.time == self.horizon - 1


class Turns(Toy):
    """Seats speak in turn; whoever is not to speak has the no-op alone."""

    ends = True

    def to_move(self, state):
        return (state.time % 2) == jnp.arange(2)


class TurnsRecall(Turns):
    """The cue is shown in the first turn of each seat, and named in its last: who forgets it can only guess."""

    ends = False

    def shows(self, state):
        return state.time < 2

    def pays(self, state):
        return state.time >= self.horizon - 2


class Meeting(Toy):
    """A point each if both choose alike, whatever they choose; the cue is what the other chose last (none at first)."""

    def init(self, key):
        return State(time=jnp.int32(0), cue=jnp.full(2, -1))

    def observe(self, state, encoding):
        if encoding == "nothing":
            return no_observation(2)
        last = (state.time == self.horizon - 1).astype(jnp.float32)
        others = state.cue[::-1]  # what the other seat chose
        return jnp.stack(
            [jnp.concatenate([jax.nn.one_hot(others[s], 2), jnp.stack([last, jnp.float32(s)])]) for s in range(2)]
        )

    def step(self, state, actions, key):
        alike = jnp.broadcast_to(actions[0] == actions[1], (2,))
        time = state.time + 1
        step = Step(
            reward=alike.astype(jnp.float32) / 2,
            shaped=jnp.zeros(2, jnp.float32),
            terminated=jnp.bool_(False),
            truncated=time >= self.horizon,
            events=jnp.stack([alike, ~alike], axis=-1).astype(jnp.int32),
        )
        return State(time=time, cue=actions), step

    def render(self, state, seat=None):
        return f"step {int(state.time)}, last {state.cue}"


class Blind(Meeting):
    """The same, but nobody sees what the other chose: two conventions are as good as each other."""

    def observe(self, state, encoding):
        seen = super().observe(state, encoding)
        return seen if encoding == "nothing" else seen.at[:, :2].set(0.0)


class Trio:
    """Three seats in plain Python; a cue of two kinds, drawn anew in every step; who names it earns a point."""

    replayable = False
    rules_version = "trio-1"
    num_seats = 3
    seat_names = ("one", "two", "three")
    action_names = ("left", "right")
    event_names = ("right",)

    def __init__(self, horizon=4):
        self.id = "tests.training.toys:Trio"
        self.horizon, self.options = horizon, {"horizon": horizon}
        self.encodings = {"vector": Encoding((2,), "float32", "the cue"), "nothing": NOTHING}

    def init(self, key):
        return (0, int(jax.random.randint(key, (), 0, 2)))

    def start(self, state):
        return {"cue": np.int32(state[1])}

    def observe(self, state, encoding):
        if encoding == "nothing":
            return np.zeros((3, 0), np.float32)
        return np.tile(np.eye(2, dtype=np.float32)[state[1]], (3, 1))

    def step(self, state, actions, key):
        if np.any(np.asarray(actions) < 0):
            raise ValueError("no such action")
        right = np.asarray(actions) == state[1]
        time = state[0] + 1
        step = Step(
            reward=right.astype(np.float32),
            shaped=np.zeros(3, np.float32),
            terminated=np.bool_(False),
            truncated=np.bool_(time >= self.horizon),
            events=right[:, None].astype(np.int32),
        )
        return (time, int(jax.random.randint(key, (), 0, 2))), step

    def to_move(self, state):
        return np.ones(3, bool)

    def legal(self, state):
        return np.ones((3, 2), bool)

    def render(self, state, seat=None):
        return f"step {state[0]}, cue {state[1]}"

    def scene(self, state, seat=None):
        raise NotImplementedError


class Three(Toy):
    """The same for three seats."""

    num_seats = 3
    seat_names = ("one", "two", "three")

    def observe(self, state, encoding):
        if encoding == "nothing":
            return no_observation(3)
        cue = jax.nn.one_hot(state.cue, 2)
        return jnp.stack([jnp.concatenate([cue, jnp.array([0.0, float(seat)])]) for seat in range(3)])

    def step(self, state, actions, key):
        after, step = super().step(state, actions, key)
        return after, Step(**vars(step) | {"shaped": jnp.zeros(3, jnp.float32)})

    def to_move(self, state):
        return jnp.ones(3, bool)
