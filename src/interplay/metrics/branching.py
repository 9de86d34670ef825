"""Play on from a moment of a recorded episode, many times: one chance for what was and for what might have been."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from interplay.agents.api import Agent, Policy
from interplay.agents.basic import Stay
from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.games.records import record
from interplay.play.episodes import Episode
from interplay.play.lineups import LineUp
from interplay.play.stage import keys_of

ROWS = 8  # branches played at once, so that one program serves any number


@record
class Moment:
    """A point from which play can go on."""

    state: Any
    memories: tuple  # by seat, before the choice at `t`
    t: Int[Array, ""]
    idle: Bool[Array, " seat"]  # who does nothing from here on


@record
class Past:
    """A recorded episode with what the policies knew at each time; past its end everything stands still."""

    states: Any  # [step + 1, ...]
    memories: tuple  # by seat, [step + 1, ...]
    agreed: Float[Array, " seat"]  # share of the recorded actions that the policies choose again

    def moment(self, t: int, *, idle: Sequence[int] = (), state: Any = None) -> Moment:
        """The moment before the joint action of time t; `state` puts another state in its place."""
        at = jax.tree_util.tree_map(lambda x: x[t], (self.states, self.memories))
        seats = jnp.arange(len(self.memories))
        who = jnp.any(seats[:, None] == jnp.array([*idle, -1]), axis=1)
        return Moment(state=at[0] if state is None else state, memories=at[1], t=jnp.int32(t), idle=who)


class Brancher:
    """The policies of one line-up, ready to be seated at any moment of its episodes. Compiled once."""

    def __init__(self, game: Game, agents: Sequence[Agent]):
        if not is_jax(game):
            raise InterplayError(f"{game.id} is not a JAX game, so play cannot branch off many times at once")
        for agent in agents:
            if not isinstance(agent.mind, Policy):
                raise InterplayError(
                    f"{agent.name!r} is a player, which cannot be asked again from the middle of an episode; "
                    f"counterfactuals need policies in all seats"
                )
        self.game, self.agents = game, tuple(agents)
        self.number = LineUp.of(game, agents).number
        self.policies = [agent.mind.bind(game) for agent in agents]  # type: ignore[union-attr]
        self.nothing = Stay().bind(game).action  # type: ignore[attr-defined]
        self._remember = jax.jit(self._past)
        self._play = jax.jit(jax.vmap(jax.vmap(self._go_on, in_axes=(None, 0)), in_axes=(0, None)))

    def past(self, episode: Episode) -> Past:
        """The policies watch the episode as it was played, with the chance that they had: memories are as they were."""
        steps = np.zeros((self.game.horizon, self.game.num_seats), np.int32)
        steps[: episode.length] = episode.actions
        key = keys_of(episode.seed, [self.number], [episode.index])[0]
        start = self.game.init(jax.random.fold_in(key, 0), **episode.start)
        return self._remember(start, key, steps, jnp.int32(episode.length))

    def points(self, moments: Sequence[Moment], samples: int, seed: int) -> Float[np.ndarray, "moment sample"]:
        """Points of the team from each moment to the end. Sample k has the same chance at every moment."""
        keys = jax.vmap(lambda k: jax.random.fold_in(jax.random.key(seed), k))(jnp.arange(samples))
        found = []
        for first in range(0, len(moments), ROWS):
            part = list(moments[first : first + ROWS])
            padded = part + [part[-1]] * (ROWS - len(part))
            rows = jax.tree_util.tree_map(lambda *x: jnp.stack(x), *padded)
            found.append(np.asarray(self._play(rows, keys))[: len(part)])
        return np.concatenate([np.zeros((0, samples), np.float32), *found])

    def _choose(self, state: Any, memories: tuple, t: Any, key: Any) -> tuple[Array, tuple, Array]:
        """Everybody's choice, on turn or off; the new memories; who is to move."""
        legal, turn = self.game.legal(state), self.game.to_move(state)
        now, chosen, kept = jax.random.fold_in(key, t + 1), [], []
        for seat, (policy, memory) in enumerate(zip(self.policies, memories)):
            seen = jax.tree_util.tree_map(lambda x, s=seat: x[s], self.game.observe(state, policy.encoding))
            memory, action, _ = policy.act(memory, seen, legal[seat], jax.random.fold_in(now, seat))
            chosen.append(action.astype(jnp.int32))
            kept.append(memory)
        return jnp.where(turn, jnp.stack(chosen), jnp.argmax(legal, axis=-1)), tuple(kept), turn

    def _past(self, start: Any, key: Any, actions: Any, length: Any) -> Past:
        begin = jax.random.fold_in(key, 0)
        first = tuple(p.init(jax.random.fold_in(begin, seat), jnp.int32(seat)) for seat, p in enumerate(self.policies))

        def turn(carry: tuple, now: tuple) -> tuple:
            state, memories = carry
            joint, t = now
            chosen, new, moves = self._choose(state, memories, t, key)
            after, _ = self.game.step(state, joint, key)
            on = t < length
            kept = jax.tree_util.tree_map(lambda a, b: jnp.where(on, a, b), (after, new), (state, memories))
            return kept, (kept, (chosen == joint) & on & moves, on & moves)

        _, (later, same, asked) = jax.lax.scan(turn, (start, first), (actions, jnp.arange(actions.shape[0])))
        states, memories = jax.tree_util.tree_map(lambda a, b: jnp.concatenate([a[None], b]), (start, first), later)
        return Past(states=states, memories=memories, agreed=same.sum(0) / jnp.maximum(asked.sum(0), 1))

    def _go_on(self, moment: Moment, key: Any) -> Float[Array, ""]:
        def turn(carry: tuple, _: None) -> tuple:
            state, memories, t, done, points = carry
            chosen, memories, moves = self._choose(state, memories, t, key)
            joint = jnp.where(moment.idle & moves, self.nothing, chosen)
            chance = jax.random.fold_in(jax.random.fold_in(key, t + 1), self.game.num_seats)
            after, step = self.game.step(state, joint, chance)
            state = jax.tree_util.tree_map(lambda a, b: jnp.where(done, a, b), state, after)
            points = points + jnp.where(done, 0.0, jnp.sum(step.reward))
            ended = step.terminated | step.truncated | (t + 1 >= self.game.horizon)
            return (state, memories, t + 1, done | ended, points), None

        first = (moment.state, moment.memories, moment.t, moment.t >= self.game.horizon, jnp.float32(0))
        (*_, points), _ = jax.lax.scan(turn, first, None, length=self.game.horizon)
        return points
