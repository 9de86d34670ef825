"""How well a policy foresees recorded actions: fed the record (teacher-forced, with its memory), it says what it
would do at every step."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from interplay.agents.api import Agent, Policy, as_agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.metrics.api import CHUNK, Metric, Sample
from interplay.metrics.information import takes_turns
from interplay.rollout.policy_batch import StaticPolicy
from interplay.rollout.seat import bound as bound_policy
from interplay.rollout.seat import policy_start, policy_turn
from interplay.table import Row
from interplay.traces import Batch

SHARES = (0.1, 0.2)  # of all actions: the published top-10 % and top-20 %
RULED_OUT = -1e4  # log odds below which an action counts as ruled out: no finite loss would be fair
FEW = 8  # episodes for which a smaller program is compiled


class Foreseen(NamedTuple):
    """What a policy thought of each recorded action."""

    log_odds: Float[np.ndarray, "episode step seat"]
    above: Int[np.ndarray, "episode step seat"]  # actions it thought more likely
    level: Int[np.ndarray, "episode step seat"]  # actions it thought just as likely, the recorded one included
    decides: Bool[np.ndarray, "episode step seat"]  # the seat was to move


def top(k: int, above: np.ndarray, level: np.ndarray) -> np.ndarray:
    """The chance that the action is among the first k if equals are put in random order."""
    return np.clip((k - above) / level, 0.0, 1.0)


def foresee(game: Game, policy: Policy, batch: Batch, smoothing: float = 0.0) -> Foreseen:
    """A policy, bound to the game, along all seats of recorded episodes."""
    count, length = len(batch.episodes), game.horizon  # one length and two sizes, so that little is compiled
    size = FEW if count <= FEW else CHUNK
    actions = np.zeros((size, length, game.num_seats), np.int32)
    for place, episode in enumerate(batch.episodes):
        actions[place, : episode.length] = episode.actions
    states = jax.tree_util.tree_map(lambda x: _fill(_fill(x[:, :-1], size, 0), length, 1), batch.states)
    arrays, static = eqx.partition(policy, eqx.is_array)
    found = _program(game, StaticPolicy(static))(arrays, states, actions, jnp.float32(smoothing))
    return Foreseen(*(np.asarray(x)[:count, : batch.played.shape[1]] for x in found))


def _fill(x: Array, size: int, axis: int) -> Array:
    """An array made up to a size with copies of its last entry."""
    last = jax.lax.slice_in_dim(x, x.shape[axis] - 1, x.shape[axis], axis=axis)
    return jnp.concatenate([x, jnp.repeat(last, size - x.shape[axis], axis=axis)], axis=axis)


@functools.lru_cache(maxsize=64)
def _program(game: Game, static: StaticPolicy) -> Any:
    def episode(arrays: Any, states: Any, actions: Int[Array, "step seat"], smoothing: Array) -> tuple:
        policy = eqx.combine(arrays, static.policy)
        seats = jnp.arange(game.num_seats)
        keys = jax.random.split(jax.random.key(0), game.num_seats)
        memories = jax.vmap(lambda seat: policy_start(policy, jax.random.key(0), seat))(seats)

        def turn(memories: Any, now: tuple) -> tuple:
            state, chosen = now
            legal = game.legal(state)
            seen = game.observe(state, policy.encoding)
            turn = jax.vmap(lambda *seat: policy_turn(policy, *seat))(memories, seen, legal, keys)
            return turn.memory, (*_opinion(turn.logits, legal, chosen, smoothing), game.to_move(state))

        return jax.lax.scan(turn, memories, (states, actions))[1]

    return jax.jit(jax.vmap(episode, in_axes=(None, 0, 0, None)))


def _opinion(
    logits: Float[Array, "seat action"],
    legal: Bool[Array, "seat action"],
    chosen: Int[Array, " seat"],
    smoothing: Array,
) -> tuple:
    """Log odds of the chosen actions among the legal ones, and how many actions stand above and level with them."""
    masked = jnp.where(legal, logits.astype(jnp.float32), -jnp.inf)
    log_odds = jax.nn.log_softmax(masked, axis=-1)
    even = -jnp.log(jnp.sum(legal, axis=-1, keepdims=True).astype(jnp.float32))
    mixed = jnp.logaddexp(jnp.log1p(-smoothing) + log_odds, jnp.log(smoothing) + even)
    log_odds = jnp.where(legal, jnp.where(smoothing > 0, mixed, log_odds), -jnp.inf)
    own = jnp.take_along_axis(log_odds, chosen[:, None], axis=-1)
    return own[:, 0], jnp.sum(log_odds > own, axis=-1), jnp.maximum(jnp.sum(log_odds == own, axis=-1), 1)


class Sums(NamedTuple):
    """Added up over decisions."""

    decisions: int
    steps: int  # those in which the seat had to wait included
    loss: float
    ruled_out: int
    hits: tuple[float, ...]

    def __add__(self, other: Any) -> Sums:
        return Sums(
            self.decisions + other.decisions,
            self.steps + other.steps,
            self.loss + other.loss,
            self.ruled_out + other.ruled_out,
            tuple(a + b for a, b in zip(self.hits, other.hits, strict=True)),
        )


def ranks(game: Game) -> dict[str, int]:
    """How many first choices each kind of hit allows: 1, and a tenth and a fifth of all actions that are choices."""
    choices = len(game.action_names) - takes_turns(game)
    return {"accuracy": 1} | {f"top_{round(100 * s)}_percent": max(1, round(s * choices)) for s in SHARES}


def policies(sample: Sample) -> dict[str, Policy]:
    """The policies to test, by name, ready for the sample's game."""
    given = sample.options["policies"]
    found: dict[str, Policy] = {}
    for thing in [given] if isinstance(given, str | Agent | Policy) else given:
        agent = as_agent(thing)
        if not isinstance(agent.policy, Policy):
            raise InterplayError(f"{agent.name!r} is a player; only policies say how likely each action is")
        if agent.name in found:
            raise InterplayError(f"two of the policies are called {agent.name!r}; give each its own name")
        found[agent.name] = bound_policy(agent.policy, sample.game)
    return found


def compute(sample: Sample) -> Iterator[Any]:
    smoothing = float(sample.options.get("smoothing", 0.0))
    if not 0 <= smoothing < 1:
        raise InterplayError(f"smoothing={smoothing}: a share of at least 0 and less than 1")
    bound = sample.shared("prediction policies", policies)
    about = sample.about()
    for name, policy in bound.items():
        first = 0
        for batch in sample.batches:
            found = foresee(sample.game, policy, batch, smoothing)
            if np.isnan(found.log_odds[found.decides & batch.played[..., None]]).any():
                raise InterplayError(
                    f"the policy {name!r} gives logits that are not numbers, or rules out every action"
                )
            if sample.options.get("detail"):
                yield from _detail(sample, batch, found, name, about[first:])
            else:
                yield _sums(sample.game, batch, found, name)
            first += len(batch.episodes)


def _sums(game: Game, batch: Batch, found: Foreseen, policy: str) -> dict[tuple, Sums]:
    """By game, policy and the agent that was foreseen."""
    kinds = ranks(game)
    decides = found.decides & batch.played[..., None]
    ruled_out = decides & (found.log_odds < RULED_OUT)
    loss = np.where(decides & ~ruled_out, -found.log_odds, 0.0).sum(axis=1)
    hits = [np.where(decides, top(k, found.above, found.level), 0.0).sum(axis=1) for k in kinds.values()]
    number, out = decides.sum(axis=1), ruled_out.sum(axis=1)  # [episode, seat]
    sums: dict[tuple, Sums] = {}
    for i, episode in enumerate(batch.episodes):
        for seat, identity in enumerate(episode.agents):
            here = (i, seat)
            hit = tuple(float(h[here]) for h in hits)
            one = Sums(int(number[here]), episode.length, float(loss[here]), int(out[here]), hit)
            key = (game, policy, identity.name)
            sums[key] = sums[key] + one if key in sums else one
    return sums


def _detail(sample: Sample, batch: Batch, found: Foreseen, policy: str, about: Sequence[Row]) -> Iterator[Row]:
    """A row for each decision."""
    names = sample.game.action_names
    for i, t, seat in np.argwhere(found.decides & batch.played[..., None]):
        episode = batch.episodes[i]
        odds = float(np.exp(found.log_odds[i, t, seat]))
        told = {"t": int(t), "action": names[int(episode.actions[t, seat])], "policy": policy}
        who = {"seat": int(seat), "agent": episode.agents[seat].name}
        yield {**about[i], **who, "metric": "probability", "value": odds, **told, "above": int(found.above[i, t, seat])}


def finish(parts: Sequence[Any], options: Mapping[str, Any]) -> Iterable[Row]:
    if options.get("detail"):
        return parts
    sums: dict[Any, Sums] = {}
    for part in parts:
        for key, one in part.items():
            sums[key] = sums[key] + one if key in sums else one
            everyone = (*key[:2], None)
            sums[everyone] = sums[everyone] + one if everyone in sums else one
    return [row for key, total in sums.items() for row in _rows(key, total)]


def _rows(key: tuple[Game, str, str | None], total: Sums) -> Iterator[Row]:
    game, policy, agent = key
    about = {"game": game.id, "agent": agent, "policy": policy, "n": total.decisions}
    finite = total.decisions > 0 and total.ruled_out == 0
    values: dict[str, float | None] = {
        "cross_entropy": total.loss / total.decisions if finite else None,
        "cross_entropy_all_steps": total.loss / total.steps if finite else None,
        "ruled_out": total.ruled_out / total.decisions if total.decisions else None,
    }
    for name, hit in zip(ranks(game), total.hits, strict=True):
        values[name] = hit / total.decisions if total.decisions else None
    for metric, value in values.items():
        yield {**about, "metric": metric, "value": value}


PREDICTION = Metric(
    name="prediction",
    doc="how well policies foresee recorded actions: cross-entropy per decision (and over all steps, the forced ones "
    "included), accuracy, and whether the action is among the policy's first tenth or fifth of all actions",
    compute=compute,
    finish=finish,
    direction="neither",
    unit="nats; share of decisions",
    source="the ad-hoc human-AI coordination challenge, Table 3 and appendix A",
    needs=("traces", "policies"),
    options={
        "policies": "agents (names or policies) whose opinion is asked",
        "smoothing": "share of each opinion that is spread evenly over the legal actions (0)",
        "detail": "one row for each decision",
    },
)
