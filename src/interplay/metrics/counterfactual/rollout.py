"""Continue recorded episodes from given times, many at once, as they were and with one thing changed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.agents.api import Agent, Policy
from interplay.agents.basic import Stay
from interplay.errors import InterplayError
from interplay.games.api import Game, State, is_jax
from interplay.games.records import record
from interplay.rollout.episode import Episode
from interplay.rollout.seat import START, StaticPolicy, bound, chance_key, episode_keys, policy_start, seat_turn
from interplay.rollout.teams import Team

ROWS = 64  # continuations of different moments that are played at once, so that one program serves any number
tree_map = jax.tree.map


@record
class Snapshot:
    """A point from which play can go on."""

    policies: tuple  # by seat, the arrays of its policy
    state: State
    memories: tuple  # by seat, before the choice at `t`
    t: Int[Array, ""]
    idle: Bool[Array, " seat"]  # who does nothing from here on


@record
class PastEpisode:
    """A recorded episode with what the policies knew at each time; past its end everything stands still."""

    policies: tuple  # by seat, the arrays of its policy
    states: State  # [step + 1, ...]
    memories: tuple  # by seat, [step + 1, ...]
    agreement: Float[Array, " seat"]  # share of the recorded actions that the policies choose again

    def snapshot(self, t: int, *, idle: Sequence[int] = (), state: Any = None) -> Snapshot:
        """The moment before the joint action of time t.

        Args:
            t: Steps played before it.
            idle: Seats that do nothing from here on.
            state: Another state, in place of the one that was.
        """
        at = tree_map(lambda x: x[t], (self.states, self.memories))
        seats = np.isin(np.arange(len(self.memories)), list(idle))
        state = at[0] if state is None else state
        return Snapshot(policies=self.policies, state=state, memories=at[1], t=jnp.int32(t), idle=jnp.asarray(seats))


class _RolloutPrograms(NamedTuple):
    past: Callable[..., Any]  # policies, start, key, actions, length -> PastEpisode; [episode, ...]
    play: Callable[..., Any]  # Snapshot [row], keys [sample] -> points [row, sample]


class CounterfactualRollout:
    """Policies of one team, ready to play on from any moment of its episodes.

    Teams whose policies differ in numbers only share one compiled program, and their moments can be played together.
    """

    def __init__(self, game: Game, agents: Sequence[Agent]):
        """Make the agents of a team ready.

        Raises:
            InterplayError: The game is not written in JAX, or an agent is a player.
        """
        if not is_jax(game):
            raise InterplayError(f"{game.id} is not a JAX game, so play cannot branch off many times at once")
        for agent in agents:
            if not isinstance(agent.policy, Policy):
                raise InterplayError(
                    f"{agent.name!r} is a player, which cannot be asked again from the middle of an episode; "
                    f"counterfactuals need policies in all seats"
                )
        self.game, self.number = game, Team.of(game, agents).number
        parts = [eqx.partition(bound(agent.policy, game), eqx.is_array) for agent in agents]  # type: ignore[arg-type]
        self.policies = tuple(arrays for arrays, _ in parts)
        self._programs = _compile(game, tuple(StaticPolicy(static) for _, static in parts))

    @property
    def program(self) -> int:
        """Equal for teams whose snapshots can be played together."""
        return id(self._programs)

    def pasts(self, episodes: Sequence[Episode]) -> list[PastEpisode]:
        """Let the policies watch episodes as they were played, with the chance that they had."""
        steps = np.zeros((len(episodes), self.game.horizon, self.game.num_seats), np.int32)
        for row, episode in zip(steps, episodes, strict=True):
            row[: episode.length] = episode.actions
        keys = [episode_keys(e.seed, [self.number], [e.index])[0] for e in episodes]
        starts = [self.game.init(chance_key(k, START, self.game.num_seats), **e.start) for k, e in zip(keys, episodes)]
        pasts = []
        for episode, start, key, actions in zip(episodes, starts, keys, steps, strict=True):
            pasts.append(self._programs.past(self.policies, start, key, actions, jnp.int32(episode.length)))
        return pasts

    def points(self, moments: Sequence[Snapshot], samples: int, seed: int) -> Float[np.ndarray, "moment sample"]:
        """Play on from moments of this team, or of teams of the same `program`.

        Args:
            moments: Where to go on from.
            samples: Continuations of each; sample k has the same chance at every moment.
            seed: Seeds that chance.

        Returns:
            The points that the team makes from each moment to the end.
        """
        keys = jax.vmap(lambda k: jax.random.fold_in(jax.random.key(seed), k))(jnp.arange(samples))
        order = sorted(range(len(moments)), key=lambda i: int(moments[i].t))  # those that take as long go together
        points = np.zeros((len(moments), samples), np.float32)
        for first in range(0, len(moments), ROWS):
            part = order[first : first + ROWS]
            filled = part + [part[-1]] * (ROWS - len(part))
            rows = tree_map(lambda *x: jnp.stack(x), *(moments[i] for i in filled))
            points[part] = np.asarray(self._programs.play(rows, keys))[: len(part)]
        return points


@functools.lru_cache(maxsize=32)
def _compile(game: Game, statics: tuple[StaticPolicy, ...]) -> _RolloutPrograms:
    seats = game.num_seats
    nothing = jnp.int32(Stay().bind(game).action)  # type: ignore[attr-defined]

    def choose(policies: tuple, state: State, memories: tuple, t: Any, key: PRNGKeyArray) -> tuple[Array, tuple, Array]:
        """Everybody's choice, on turn or off; the new memories; who is to move."""
        legal, turn, chosen, new_memories = game.legal(state), game.to_move(state), [], []
        for seat, (arrays, static, memory) in enumerate(zip(policies, statics, memories, strict=True)):
            done = seat_turn(game, eqx.combine(arrays, static.policy), memory, state, seat, key, t)
            chosen.append(done.action)
            new_memories.append(done.memory)
        return jnp.where(turn, jnp.stack(chosen), jnp.argmax(legal, axis=-1)), tuple(new_memories), turn

    def past(policies: tuple, start: Any, key: PRNGKeyArray, actions: Array, length: Any) -> PastEpisode:
        first = tuple(
            policy_start(eqx.combine(arrays, static.policy), key, jnp.int32(seat))
            for seat, (arrays, static) in enumerate(zip(policies, statics, strict=True))
        )

        def turn(carry: tuple, now: tuple) -> tuple:
            state, memories = carry
            joint, t = now
            chosen, new, moves = choose(policies, state, memories, t, key)
            after, _ = game.step(state, joint, chance_key(key, t, seats))
            on = t < length
            carried = tree_map(lambda a, b: jnp.where(on, a, b), (after, new), (state, memories))
            return carried, (carried, (chosen == joint) & on & moves, on & moves)

        _, (later, same, decided) = jax.lax.scan(turn, (start, first), (actions, jnp.arange(actions.shape[0])))
        states, memories = tree_map(lambda a, b: jnp.concatenate([a[None], b]), (start, first), later)
        agreement = same.sum(0) / jnp.maximum(decided.sum(0), 1)
        return PastEpisode(policies=policies, states=states, memories=memories, agreement=agreement)

    def play(moment: Snapshot, key: PRNGKeyArray) -> Float[Array, ""]:
        def goes_on(carry: tuple) -> Array:
            return ~carry[3]

        def turn(carry: tuple) -> tuple:
            state, memories, t, _, points = carry
            chosen, memories, moves = choose(moment.policies, state, memories, t, key)
            joint = jnp.where(moment.idle & moves, nothing, chosen)
            after, step = game.step(state, joint, chance_key(key, t, seats))
            ended = step.terminated | step.truncated | (t + 1 >= game.horizon)
            return after, memories, t + 1, ended, points + jnp.sum(step.reward)

        first = (moment.state, moment.memories, moment.t, moment.t >= game.horizon, jnp.float32(0))
        return jax.lax.while_loop(goes_on, turn, first)[4]

    return _RolloutPrograms(jax.jit(past), jax.jit(jax.vmap(jax.vmap(play, in_axes=(None, 0)), in_axes=(0, None))))
