"""Behaviour cloning: a network that gives the recorded actions a high likelihood.

Several splits of the games are learnt beside each other in one compiled program. In each, some games are learnt from,
some choose the epoch whose network is kept, and some are only for the numbers that are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from interplay.agents.networks import Core, Shape
from interplay.errors import InterplayError
from interplay.training import schedule
from interplay.training.imitation.recordings import Recordings, own_turns
from interplay.training.loss import chosen, log_probs
from interplay.training.schedule import Schedule

LEARN, SELECT, TEST = 0, 1, 2
AT_ONCE = 20_000  # steps whose likelihood is computed at a time
SELECTIONS = ("loss", "self_play")


@dataclass(frozen=True)
class Cloning:
    """How is learnt."""

    epochs: int = 60  # passes over the games to learn from; the best of them is kept
    batch: int = 512  # decisions of a step of gradient descent (with memory: chunks)
    chunk: int = 40  # steps through which memory is trained; memory itself goes on from chunk to chunk. 0: whole games
    learning_rate: Schedule = ((0.0, 2e-3), (1.0, 1e-4))
    weight_decay: float = 1e-3
    dropout: float = 0.0  # share of the decoder's units that are left out, anew in every step
    rename: bool = False  # colours of Hanabi get other names, for every sequence in every step; memory needs chunk 0
    select: str = "loss"  # which epoch is kept: least loss on games apart, or self_play: most points with itself
    select_games: int = 0  # games that it is chosen by, each played with the likeliest actions; the same every time

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch", 1), ("chunk", 0), ("select_games", 0)):
            if getattr(self, name) < least:
                raise InterplayError(f"algorithm.options.{name}: {getattr(self, name)}; at least {least}")
        if not 0 <= self.dropout < 1:
            raise InterplayError(f"algorithm.options.dropout: {self.dropout}; from 0 to less than 1")
        if self.select not in SELECTIONS:
            raise InterplayError(f"algorithm.options.select: {self.select!r}; one of {', '.join(SELECTIONS)}")
        if (self.select == "self_play") != (self.select_games > 0):
            raise InterplayError(
                "algorithm.options.select: self_play goes with select_games, 1 or more; loss with none"
            )


class Fit(NamedTuple):
    """How well actions are predicted, a number for every split: the mean over decisions."""

    cross_entropy: Float[np.ndarray, " split"]  # in nats
    accuracy: Float[np.ndarray, " split"]  # how often the likeliest action is the one taken


@dataclass(frozen=True)
class Clones:
    """A network a split, from the epoch that was liked best."""

    cores: Core  # arrays [split, ...]
    epoch: Int[np.ndarray, " split"]  # which one that was, from 1
    curve: list[
        dict[str, list[float]]
    ]  # of every epoch: cross-entropy of each split on the games it learns, selects by
    learn: Fit
    select: Fit
    test: Fit
    chance: Fit  # on the same games as `test`, a guess by how often each action is taken in the games learnt from

    def core(self, split: int) -> Core:
        return jax.tree_util.tree_map(lambda x: x[split], self.cores)


def splits(games: int, number: int, seed: int, person: Any = None) -> Int[np.ndarray, "split game"]:
    """What each game is for in each split. Every game is tested in one split, and selects in another.

    `person` [game] tells whose games they are: those of one person are for the same.
    """
    groups = np.arange(games) if person is None else np.unique(person, return_inverse=True)[1]
    many = int(groups.max()) + 1
    if not 3 <= number <= many:
        what = f"{games} games" if many == games else f"{games} games of {many} people"
        raise InterplayError(f"{number} splits of {what}; from 3 (learn, select, test) to as many as those")
    generator = np.random.default_rng(seed)
    if many == games:
        fold = generator.permutation(games) % number
    else:  # the largest groups first, each to the fold that has the fewest games
        sizes, order = np.bincount(groups), generator.permutation(many)
        of_group, filled = np.zeros(many, int), np.zeros(number, int)
        for group in order[np.argsort(-sizes[order], kind="stable")]:
            of_group[group] = np.argmin(filled)
            filled[of_group[group]] += sizes[group]
        fold = of_group[groups]
    roles = np.full((number, games), LEARN)
    for split in range(number):
        roles[split, fold == split] = TEST
        roles[split, fold == (split + 1) % number] = SELECT
    return roles


def clone(
    data: Recordings,
    shape: Shape,
    how: Cloning,
    roles: Int[np.ndarray, "split game"],
    key: PRNGKeyArray,
    *,
    renamings: Any = None,
    judge: Callable[[Core], Array] | None = None,
    tell: Callable[[int, dict[str, list[float]]], None] | None = None,
) -> Clones:
    """Learn every split. `renamings` are those that `how.rename` draws from, `judge` scores networks [split, ...] where
    `how.select` asks for it, and `tell` hears of each epoch."""
    if roles.shape[1] != data.games:
        raise InterplayError(f"the splits are of {roles.shape[1]} games, the recordings of {data.games}")
    if how.rename and renamings is None:
        raise InterplayError("algorithm.options.rename: only Hanabi's hle and belief have colours to be renamed")
    assert how.select != "self_play" or judge is not None
    static, material = _arranged(data, shape, how, np.asarray(roles), judge, renamings if how.rename else None)
    for_start, for_order = jax.random.split(key)
    state = _start(static, material, for_start)
    curve = []
    for epoch in range(how.epochs):
        state, fit, likes = _epoch(static, material, state, jnp.int32(epoch), jax.random.fold_in(for_order, epoch))
        line = {name: np.asarray(fit.cross_entropy)[:, role].tolist() for name, role in (("learn", 0), ("select", 1))}
        if how.select == "self_play":
            line["self_play"] = (-np.asarray(likes)).tolist()
        curve.append(line)
        if tell is not None:
            tell(epoch + 1, line)
    fit = jax.tree_util.tree_map(np.asarray, _fit(static, material, state.best))
    learn, select, test = (Fit(fit.cross_entropy[:, role], fit.accuracy[:, role]) for role in (LEARN, SELECT, TEST))
    cores = jax.tree_util.tree_map(np.asarray, state.best)
    return Clones(cores, np.asarray(state.when), curve, learn, select, test, _chance(data, roles))


class _State(NamedTuple):
    cores: Core  # [split, ...]
    optimiser: Any
    best: Core
    likes: Float[Array, " split"]  # the least so far of what the epoch is selected by
    when: Int[Array, " split"]


class _Chunks(NamedTuple):
    """What is trained on, [sequence, step, ...] or [chunk, step, ...]; a chunk is a step without memory."""

    seen: Array
    legal: Array
    action: Array
    turn: Array
    start: Array


@dataclass(frozen=True)
class _Static:
    """What is compiled in."""

    shape: Shape
    how: Cloning
    length: int  # steps of a chunk
    batch: int
    size: int  # chunks of an epoch: whole batches of the split that has the fewest
    judge: Callable[..., Array] | None


class _Material(NamedTuple):
    whole: _Chunks  # [sequence, step, ...]
    learnt: Int[Array, "split chunk"]  # which chunks a split learns from; filled up with -1, which no draw takes
    roles: Int[Array, "split sequence"]
    renamings: Any  # seen, real and named [renaming, ...]; None: nothing is renamed


def _arranged(
    data: Recordings, shape: Shape, how: Cloning, roles: np.ndarray, judge: Any, renamings: Any
) -> tuple[_Static, _Material]:
    data = own_turns(data) if shape.own_turns else data
    length = (how.chunk or data.action.shape[1]) if shape.recurrent else 1
    if renamings is not None and shape.recurrent and length < data.action.shape[1]:
        # What is remembered at the start of a chunk comes from the game as it was, under the real names.
        raise InterplayError(
            f"algorithm.options.rename: memory does not go on from chunk to chunk under other names; the longest game "
            f"has {data.action.shape[1]} steps, and chunk is {length}: set chunk to 0, which takes whole games"
        )
    data = _padded(data, length)
    sequences, steps = data.action.shape
    useful = data.turn.reshape(sequences * (steps // length), length).any(axis=1)  # the others teach nothing
    of_game = np.repeat(data.game, steps // length)
    each = [np.flatnonzero(useful & (of_split[of_game] == LEARN)) for of_split in roles]
    fewest, most = min(map(len, each)), max(map(len, each))
    if not fewest:
        raise InterplayError("a split has no decisions to learn from")
    batch = min(how.batch, fewest)
    learnt = np.stack([np.pad(e, (0, most - len(e)), constant_values=-1) for e in each])
    whole = _Chunks(*(jnp.asarray(getattr(data, name)) for name in _Chunks._fields))
    names = None if renamings is None else jax.tree_util.tree_map(jnp.asarray, renamings)
    material = _Material(whole, jnp.asarray(learnt), jnp.asarray(roles[:, data.game]), names)
    return _Static(shape, how, length, batch, fewest // batch * batch, judge), material


def _rule(how: Cloning) -> optax.GradientTransformation:
    decay = optax.add_decayed_weights(how.weight_decay)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(), decay)


@partial(jax.jit, static_argnums=0)
def _start(static: _Static, material: _Material, key: PRNGKeyArray) -> _State:
    number = material.roles.shape[0]
    cores: Any = jax.vmap(lambda k: Core(static.shape, 0.01, k))(jax.random.split(key, number))
    worst, never = jnp.full(number, jnp.inf), jnp.zeros(number, jnp.int32)
    return _State(cores, jax.vmap(_rule(static.how).init)(cores), cores, worst, never)


@partial(jax.jit, static_argnums=0)
def _epoch(
    static: _Static, material: _Material, state: _State, number: Array, key: PRNGKeyArray
) -> tuple[_State, Any, Array]:
    """A pass of every split over its games; a network that is liked better than any before is kept."""
    keys = jax.random.split(key, material.roles.shape[0])
    learn = jax.vmap(partial(_learn, static, material), in_axes=(0, 0, 0, None, 0))
    cores, optimiser = learn(state.cores, state.optimiser, material.learnt, number, keys)
    fit = _fit(static, material, cores)
    now = fit.cross_entropy[:, SELECT] if static.judge is None else -static.judge(cores)
    better = now < state.likes
    kept = jax.tree_util.tree_map(
        lambda a, b: jnp.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b), cores, state.best
    )
    when = jnp.where(better, number + 1, state.when)
    return _State(cores, optimiser, kept, jnp.minimum(now, state.likes), when), fit, now


def _learn(
    static: _Static, material: _Material, core: Any, optimiser: Any, mine: Array, epoch: Array, key: PRNGKeyArray
) -> tuple[Any, Any]:
    """A pass of one split over its chunks, in a new order."""
    whole, how = material.whole, static.how
    order = mine[jnp.argsort(jnp.where(mine >= 0, jax.random.uniform(key, mine.shape), 2.0))[: static.size]]
    batches = order.reshape(-1, static.batch)
    chunks = jax.tree_util.tree_map(lambda x: x.reshape(-1, static.length, *x.shape[2:]), whole)
    memory, rule = _memories(static, whole, core), _rule(static.how)

    def step(carry: tuple[Any, Any, Array], which: Array) -> tuple[Any, None]:
        core, optimiser, number = carry
        part = jax.tree_util.tree_map(lambda x: x[which], chunks)
        for_names, for_dropout = jax.random.split(jax.random.fold_in(key, number))
        if material.renamings is not None:
            part = _renamed(part, material.renamings, for_names)
        gradient = jax.grad(lambda c: _loss(c, memory[which], part, how.dropout, for_dropout))(core)
        updates, optimiser = rule.update(gradient, optimiser, core)
        share = number / (how.epochs * batches.shape[0])
        rate = schedule.at(how.learning_rate, share)
        core = jax.tree_util.tree_map(lambda w, u: w - rate * u, core, updates)
        return (core, optimiser, number + 1), None

    first = (core, optimiser, epoch * batches.shape[0])
    (core, optimiser, _), _ = jax.lax.scan(step, first, batches)
    return core, optimiser


def _renamed(part: _Chunks, names: Any, key: PRNGKeyArray) -> _Chunks:
    """Every sequence with colours of other names: what is seen and legal is gathered, what was done is renamed."""
    which = jax.random.randint(key, part.action.shape[:1], 0, names.seen.shape[0])
    gather = jax.vmap(lambda x, index: jnp.take(x, index, axis=-1))
    return part._replace(
        seen=gather(part.seen, names.seen[which]),
        legal=gather(part.legal, names.real[which]),
        action=jax.vmap(lambda a, index: index[a])(part.action, names.named[which]),
    )


def _memories(static: _Static, whole: _Chunks, core: Any) -> Float[Array, "chunk memory"]:
    """The memory with which each chunk begins, by the network as it is at the start of the epoch."""
    sequences, steps = whole.action.shape
    if not static.shape.recurrent or static.length == steps:  # nothing went before
        return jnp.zeros((sequences * (steps // static.length), static.shape.memory))

    def one(sequence: _Chunks) -> Array:
        after, _ = core.unroll(core.start(), sequence.seen, sequence.start)
        ends = after[static.length - 1 :: static.length]
        return jnp.concatenate([core.start()[None], ends[:-1]])

    return jax.lax.map(one, whole, batch_size=max(1, AT_ONCE // steps)).reshape(-1, static.shape.memory)


@partial(jax.jit, static_argnums=0)
def _fit(static: _Static, material: _Material, cores: Any) -> Any:
    """[split, role] over the decisions of the games in that role."""

    def of_split(core: Any, roles: Array) -> tuple[Array, Array]:
        def one(sequence: _Chunks) -> tuple[Array, Array, Array]:
            loss, right = predictions(core, sequence)
            return jnp.sum(loss), jnp.sum(right), jnp.sum(sequence.turn)

        at_once = max(1, AT_ONCE // material.whole.action.shape[1])
        loss, right, decisions = jax.lax.map(one, material.whole, batch_size=at_once)
        here = (roles == jnp.arange(3)[:, None]).astype(jnp.float32)  # [role, sequence]
        total = jnp.maximum(here @ decisions.astype(jnp.float32), 1.0)
        return here @ loss / total, here @ right / total

    return Fit(*jax.vmap(of_split)(cores, material.roles))  # type: ignore[arg-type]


def predictions(core: Core, sequence: Any) -> tuple[Float[Array, " step"], Float[Array, " step"]]:
    """Of every step of a sequence: minus the log-likelihood of its action, and whether it was the likeliest; 0 where
    there was nothing to choose."""
    _, features = core.unroll(core.start(), sequence.seen, sequence.start)
    odds = log_probs(core.decoded(features), sequence.legal)
    right = jnp.argmax(odds, axis=-1) == sequence.action
    return -chosen(odds, sequence.action) * sequence.turn, (right & sequence.turn).astype(jnp.float32)


def _loss(core: Core, memory: Array, part: _Chunks, dropout: float, key: PRNGKeyArray) -> Array:
    features = core.unroll_all(memory, part.seen, part.start)
    odds = log_probs(core.decoded(features, dropout, key), part.legal)
    return -jnp.sum(chosen(odds, part.action) * part.turn) / jnp.maximum(jnp.sum(part.turn), 1)


def _padded(data: Recordings, length: int) -> Recordings:
    """With a number of steps that chunks divide."""
    more = -data.action.shape[1] % length
    if not more:
        return data

    def pad(x: np.ndarray, value: Any = 0) -> np.ndarray:
        return np.pad(x, ((0, 0), (0, more), *[(0, 0)] * (x.ndim - 2)), constant_values=value)

    padded = (pad(data.seen), pad(data.legal, True), pad(data.action), pad(data.turn), pad(data.start))
    return Recordings(*padded, data.game, data.person)


def _chance(data: Recordings, roles: np.ndarray) -> Fit:
    """A guess by how often each action is taken, without looking; among the legal ones."""
    entropy, right = [], []
    actions = data.legal.shape[-1]
    for of_split in roles:
        learn, test = (data.turn & (of_split[data.game] == role)[:, None] for role in (LEARN, TEST))
        odds = np.bincount(data.action[learn], minlength=actions) + 1.0
        legal, action = data.legal[test], data.action[test]
        allowed = legal * odds
        share = np.take_along_axis(allowed, action[:, None].astype(int), 1)[:, 0] / allowed.sum(axis=1)
        entropy.append(-np.log(share).mean() if len(share) else np.nan)
        right.append((allowed.argmax(axis=1) == action).mean() if len(share) else np.nan)
    return Fit(np.array(entropy), np.array(right))
