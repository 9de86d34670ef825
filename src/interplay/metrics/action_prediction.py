"""How well a policy predicts recorded actions.

It is fed the record (teacher-forced, with its memory) and gives the chance of each action at every step.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from interplay.agents.api import Agent, Memory, Policy, as_agent
from interplay.errors import InterplayError
from interplay.games.api import Game, State
from interplay.metrics.api import CHUNK, Metric, Sample
from interplay.metrics.information import takes_turns
from interplay.rollout.seat import StaticPolicy, policy_start, policy_turn
from interplay.rollout.seat import bound as bound_policy
from interplay.table import Row
from interplay.traces import ReplayBatch

SHARES = (0.1, 0.2)  # of all actions: the published top-10 % and top-20 %
RULED_OUT = -1e4  # log odds below which an action counts as ruled out: no finite loss would be fair
FEW = 8  # episodes for which a smaller program is compiled
BEST = "best"  # smoothing that is fitted
GRID = np.concatenate([[0.0, 0.001, 0.002, 0.005], np.arange(0.01, 1.0, 0.01)])  # what it is chosen from


class ActionPredictions(NamedTuple):
    """What a policy predicted of each recorded action."""

    log_odds: Float[np.ndarray, "episode step seat"]
    above: Int[np.ndarray, "episode step seat"]  # actions it thought more likely
    level: Int[np.ndarray, "episode step seat"]  # actions it thought just as likely, the recorded one included
    legal: Int[np.ndarray, "episode step seat"]  # actions that were legal
    decides: Bool[np.ndarray, "episode step seat"]  # the seat was to move


def top(k: int, above: np.ndarray, level: np.ndarray) -> np.ndarray:
    """The chance that the action is among the first k if equals are put in random order."""
    return np.clip((k - above) / level, 0.0, 1.0)


def predict_actions(game: Game, policy: Policy, batch: ReplayBatch, smoothing: float = 0.0) -> ActionPredictions:
    """Run a policy, bound to the game, along all seats of recorded episodes.

    Args:
        game: The game.
        policy: The policy, bound to the game.
        batch: The replayed episodes.
        smoothing: The share of probability that is spread evenly over the legal actions.
    """
    count, length = len(batch.episodes), game.horizon  # one length and two sizes, so that little is compiled
    size = FEW if count <= FEW else CHUNK
    actions = np.zeros((size, length, game.num_seats), np.int32)
    for place, episode in enumerate(batch.episodes):
        actions[place, : episode.length] = episode.actions
    states = jax.tree.map(lambda x: _fill(_fill(x[:, :-1], size, 0), length, 1), batch.states)
    arrays, static = eqx.partition(policy, eqx.is_array)
    predicted = _program(game, StaticPolicy(static))(arrays, states, actions, jnp.float32(smoothing))
    return ActionPredictions(*(np.asarray(x)[:count, : batch.played.shape[1]] for x in predicted))


def _fill(x: Array, size: int, axis: int) -> Array:
    """An array made up to a size with copies of its last entry."""
    last = jax.lax.slice_in_dim(x, x.shape[axis] - 1, x.shape[axis], axis=axis)
    return jnp.concatenate([x, jnp.repeat(last, size - x.shape[axis], axis=axis)], axis=axis)


@functools.lru_cache(maxsize=64)
def _program(game: Game, static: StaticPolicy) -> Any:
    def episode(arrays: PyTree, states: State, actions: Int[Array, "step seat"], smoothing: Array) -> tuple:
        policy = eqx.combine(arrays, static.policy)
        seats = jnp.arange(game.num_seats)
        keys = jax.random.split(jax.random.key(0), game.num_seats)
        memories = jax.vmap(lambda seat: policy_start(policy, jax.random.key(0), seat))(seats)

        def turn(memories: Memory, now: tuple) -> tuple:
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
    """Compare the chosen actions with the others.

    Returns:
        Log odds of the chosen actions among the legal ones, how many actions stand above them, how many level with
        them, and how many are legal; [seat] each.
    """
    masked = jnp.where(legal, logits.astype(jnp.float32), -jnp.inf)
    log_odds = jax.nn.log_softmax(masked, axis=-1)
    even = -jnp.log(jnp.sum(legal, axis=-1, keepdims=True).astype(jnp.float32))
    mixed = jnp.logaddexp(jnp.log1p(-smoothing) + log_odds, jnp.log(smoothing) + even)
    log_odds = jnp.where(legal, jnp.where(smoothing > 0, mixed, log_odds), -jnp.inf)
    own = jnp.take_along_axis(log_odds, chosen[:, None], axis=-1)
    level = jnp.maximum(jnp.sum(log_odds == own, axis=-1), 1)
    return own[:, 0], jnp.sum(log_odds > own, axis=-1), level, jnp.sum(legal, axis=-1)


class PredictionSums(NamedTuple):
    """Sums over the decisions of each episode."""

    decisions: Int[np.ndarray, " episode"]
    steps: Int[np.ndarray, " episode"]  # those in which the seat had to wait included
    loss: Float[np.ndarray, "episode smoothing"]  # for each share that is spread evenly
    ruled_out: Int[np.ndarray, "episode smoothing"]
    hits: Float[np.ndarray, "episode rank"]

    @classmethod
    def joined(cls, parts: Sequence[PredictionSums]) -> PredictionSums:
        """Return the episodes of all parts together."""
        return cls(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def ranks(game: Game) -> dict[str, int]:
    """How many first choices each kind of hit allows: 1, and a tenth and a fifth of all actions that are choices."""
    choices = len(game.action_names) - takes_turns(game)
    return {"accuracy": 1} | {f"top_{round(100 * s)}_percent": max(1, round(s * choices)) for s in SHARES}


def policies(sample: Sample) -> dict[str, Policy]:
    """The policies to test, by name, ready for the sample's game."""
    named = sample.options["policies"]
    bound: dict[str, Policy] = {}
    for thing in [named] if isinstance(named, str | Agent | Policy) else named:
        agent = as_agent(thing)
        if not isinstance(agent.policy, Policy):
            raise InterplayError(f"{agent.name!r} is a player; only policies say how likely each action is")
        if agent.name in bound:
            raise InterplayError(f"two of the policies are called {agent.name!r}; give each its own name")
        bound[agent.name] = bound_policy(agent.policy, sample.game)
    return bound


def compute(sample: Sample) -> Iterator[Any]:
    """Yield the sums of each batch by policy; with the option `detail`, a row for each decision.

    Raises:
        InterplayError: A policy gives logits that are not numbers, or rules out every action.
    """
    smoothing = smoothing_of(sample.options)
    bound = sample.shared("prediction policies", policies)
    about = sample.about()
    for name, policy in bound.items():
        first = 0
        for batch in sample.batches:
            predicted = predict_actions(sample.game, policy, batch, 0.0 if smoothing is None else smoothing)
            if np.isnan(predicted.log_odds[predicted.decides & batch.played[..., None]]).any():
                raise InterplayError(
                    f"the policy {name!r} gives logits that are not numbers, or rules out every action"
                )
            if sample.options.get("detail"):
                yield from _detail(sample, batch, predicted, name, about[first:])
            else:
                yield _sums(sample.game, batch, predicted, name, smoothing is None)
            first += len(batch.episodes)


def smoothing_of(options: Mapping[str, Any]) -> float | None:
    """The share that is spread evenly; None if it is to be fitted."""
    share = options.get("smoothing", 0.0)
    if share == BEST:
        if options.get("detail"):
            raise InterplayError(f"smoothing={BEST}: it is fitted to all decisions; with detail, give a share")
        return None
    if isinstance(share, str) or not 0 <= float(share) < 1:
        raise InterplayError(f"smoothing={share}: a share of at least 0 and less than 1, or {BEST}")
    return float(share)


def _sums(
    game: Game, batch: ReplayBatch, predicted: ActionPredictions, policy: str, fit: bool
) -> dict[tuple, list[PredictionSums]]:
    """Sums by game, policy and the agent that was predicted; with `fit`, the loss for every smoothing of the grid."""
    kinds = ranks(game)
    decides = predicted.decides & batch.played[..., None]
    log_odds = np.where(decides, predicted.log_odds, 0.0)[..., None]
    if fit:
        even = 1.0 / np.maximum(predicted.legal, 1)[..., None]
        with np.errstate(divide="ignore"):
            log_odds = np.log((1 - GRID) * np.exp(log_odds) + GRID * even)
    here = decides[..., None]
    ruled_out = here & (log_odds < RULED_OUT)
    loss = np.where(here & ~ruled_out, -log_odds, 0.0).sum(axis=1)  # [episode, seat, smoothing]
    hits = [np.where(decides, top(k, predicted.above, predicted.level), 0.0).sum(axis=1) for k in kinds.values()]
    hit, number, out = np.stack(hits, axis=-1), decides.sum(axis=1), ruled_out.sum(axis=1)
    sums: dict[tuple, list[PredictionSums]] = {}
    for i, episode in enumerate(batch.episodes):
        for seat, identity in enumerate(episode.agents):
            rows = (number[i, seat], episode.length, loss[i, seat], out[i, seat], hit[i, seat])
            one = PredictionSums(*(np.asarray(x)[None] for x in rows))
            sums.setdefault((game, policy, identity.name), []).append(one)
    return sums


def _detail(
    sample: Sample, batch: ReplayBatch, predicted: ActionPredictions, policy: str, about: Sequence[Row]
) -> Iterator[Row]:
    """A row for each decision."""
    names = sample.game.action_names
    for i, t, seat in np.argwhere(predicted.decides & batch.played[..., None]):
        episode = batch.episodes[i]
        odds = float(np.exp(predicted.log_odds[i, t, seat]))
        decision = {"t": int(t), "action": names[int(episode.actions[t, seat])], "policy": policy}
        who = {"seat": int(seat), "agent": episode.agents[seat].name}
        yield {
            **about[i],
            **who,
            "metric": "probability",
            "value": odds,
            **decision,
            "above": int(predicted.above[i, t, seat]),
        }


def finish(parts: Sequence[Any], options: Mapping[str, Any]) -> Iterable[Row]:
    """Return means over decisions of each policy for each agent, and for all agents together."""
    if options.get("detail"):
        return parts
    sums: dict[Any, list[PredictionSums]] = {}
    for part in parts:
        for key, some in part.items():
            sums.setdefault(key, []).extend(some)
            sums.setdefault((*key[:2], None), []).extend(some)  # everyone
    return [row for key, some in sums.items() for row in _rows(key, PredictionSums.joined(some), smoothing_of(options))]


def _rows(key: tuple[Game, str, str | None], sums: PredictionSums, smoothing: float | None) -> Iterator[Row]:
    """Means over decisions, with standard errors over episodes."""
    game, policy, agent = key
    total = int(sums.decisions.sum())
    loss, out, share = _softened(sums) if smoothing is None else (sums.loss[:, 0], sums.ruled_out[:, 0], smoothing)
    about = {"game": game.id, "agent": agent, "policy": policy, "n": total, "smoothing": share}
    finite = total > 0 and not out.sum()
    values: dict[str, tuple[float | None, float | None]] = {
        "cross_entropy": _ratio(loss, sums.decisions) if finite else (None, None),
        "cross_entropy_all_steps": _ratio(loss, sums.steps) if finite else (None, None),
        "ruled_out": _ratio(out, sums.decisions),
    }
    for number, name in enumerate(ranks(game)):
        values[name] = _ratio(sums.hits[:, number], sums.decisions)
    for metric, (value, error) in values.items():
        yield {**about, "metric": metric, "value": value, "se": error}


def _softened(sums: PredictionSums) -> tuple[np.ndarray, np.ndarray, float]:
    """Losses of each half of the episodes at the smoothing that the other half fits best.

    Returns:
        The losses, what is ruled out all the same, and the mean of the two smoothings.
    """
    half = np.arange(len(sums.decisions)) % 2
    penalty = np.where(sums.ruled_out.sum(axis=0) > 0, np.inf, 0.0)  # what rules an action out fits nothing
    fits = [int(np.argmin(sums.loss[half == side].sum(axis=0) + penalty)) for side in (0, 1)]
    chosen = np.where(half == 0, fits[1], fits[0])
    rows = np.arange(len(chosen))
    return sums.loss[rows, chosen], sums.ruled_out[rows, chosen], float(GRID[fits].mean())


def _ratio(values: np.ndarray, counts: np.ndarray) -> tuple[float | None, float | None]:
    """A ratio of sums over episodes, and its standard error (None for a single episode)."""
    total, many = counts.sum(), np.count_nonzero(counts)
    if not total:
        return None, None
    mean = float(values.sum() / total)
    if many < 2:
        return mean, None
    return mean, float(np.sqrt(np.sum((values - mean * counts) ** 2) * many / (many - 1)) / total)


PREDICTION = Metric(
    name="prediction",
    doc="how well policies predict recorded actions: cross-entropy per decision (and over all steps, the forced ones "
    "included), accuracy, and whether the action is among the policy's first tenth or fifth of all actions",
    compute=compute,
    describing=("n",),
    finish=finish,
    direction="neither",
    unit="nats; share of decisions",
    source="the ad-hoc human-AI coordination challenge, Table 3 and appendix A",
    needs=("traces", "policies"),
    options={
        "policies": "agents (names or policies) whose opinion is asked",
        "smoothing": "share of each opinion that is spread evenly over the legal actions (0); best: for each half of "
        "the episodes the share that fits the other half best",
        "detail": "one row for each decision",
    },
)
