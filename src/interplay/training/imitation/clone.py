"""Behaviour cloning: a network that gives the recorded actions a high likelihood.

Several splits of the games are learnt beside each other in one compiled program. In each, some games are learnt from,
some choose the epoch whose network is kept, and some are only for the numbers that are reported. Sequences are taken
batch by batch from what holds them: arrays in memory (`Recordings`), or games that are played again (`GameStream`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from interplay.agents.networks import Core, Shape
from interplay.errors import InterplayError
from interplay.training import schedule
from interplay.training.imitation.recordings import GameStream, Recordings, Sequences, Take
from interplay.training.loss import chosen, log_probs
from interplay.training.schedule import Schedule

LEARN, SELECT, TEST = 0, 1, 2
AT_ONCE = 20_000  # steps whose likelihood is computed at a time
FITTED = 4096  # sequences learnt from, at most, by which an epoch's fit to them is told
TELL_S = 2.0  # seconds between two words of progress
SELECTIONS = ("loss", "self_play")


@dataclass(frozen=True)
class Cloning:
    """The settings of behaviour cloning."""

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
    """A network for each split, from its best epoch."""

    cores: Core  # arrays [split, ...]
    epoch: Int[np.ndarray, " split"]  # which one that was, from 1
    curve: list[dict[str, list[float]]]  # of every epoch: cross-entropy of each split on games it learns, selects by
    learn: Fit
    select: Fit
    test: Fit
    chance: Fit  # on the same games as `test`, a guess by how often each action is taken in the games learnt from

    def core(self, split: int) -> Core:
        """Return the network of a split."""
        return jax.tree.map(lambda x: x[split], self.cores)


def splits(
    games: int, number: int, seed: int, person: Any = None, folds: int | None = None
) -> Int[np.ndarray, "split game"]:
    """Return what each game is for in each split: one fold of the games tests it, the next one selects its epoch.

    Args:
        games: How many there are.
        number: Of splits.
        seed: By which games are put into folds.
        person: [game] whose games they are: those of one person are in one fold.
        folds: Into how many parts games are cut; None: as many as splits, so that each is tested once.

    Returns:
        LEARN, SELECT or TEST for every game in every split.
    """
    if folds is not None and folds < number:
        raise InterplayError(f"algorithm.options.folds: {folds}; at least as many as runs, of which there are {number}")
    number, wanted = folds or number, number
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
    return roles[:wanted]


def clone(
    data: Recordings | GameStream,
    shape: Shape,
    how: Cloning,
    roles: Int[np.ndarray, "split game"],
    key: PRNGKeyArray,
    *,
    renamings: Any = None,
    judge: Callable[[Core], Array] | None = None,
    tell: Callable[[int, dict[str, list[float]]], None] | None = None,
    progress: Callable[[CloneProgress], None] | None = None,
) -> Clones:
    """Train a network for every split.

    Args:
        data: What is learnt from.
        shape: Of the networks.
        how: The settings.
        roles: What each game is for in each split, see `splits`.
        key: For first weights and orders.
        renamings: What `how.rename` draws from.
        judge: Scores networks [split, ...] where `how.select` asks for it.
        tell: Hears of each epoch.
        progress: Hears every few seconds how far an epoch is.
    """
    if roles.shape[1] != data.games:
        raise InterplayError(f"the splits are of {roles.shape[1]} games, the recordings of {data.games}")
    if how.rename and renamings is None:
        raise InterplayError("algorithm.options.rename: only Hanabi's hle and belief have colours to be renamed")
    assert how.select != "self_play" or judge is not None
    static, material, parts = _arranged(data, shape, how, np.asarray(roles), judge, renamings if how.rename else None)
    for_start, for_order = jax.random.split(key)
    state, pace = _start(static, material, for_start), ClonePace(progress)
    curve = []
    for epoch in range(how.epochs):
        state = _pass(static, material, state, epoch, jax.random.fold_in(for_order, epoch), pace)
        learn, select = (_fit(static, material, state.cores, which) for which in parts[:2])
        state, likes = _kept(static, state, select.cross_entropy, jnp.int32(epoch))
        line = {"learn": np.asarray(learn.cross_entropy).tolist(), "select": np.asarray(select.cross_entropy).tolist()}
        if how.select == "self_play":
            line["self_play"] = (-np.asarray(likes)).tolist()
        curve.append(line)
        if tell is not None:
            tell(epoch + 1, line)
    learn, select, test = (Fit(*(np.asarray(x) for x in _fit(static, material, state.best, which))) for which in parts)
    chance = Fit(*(np.asarray(x) for x in _chance(static, material, parts[TEST])))
    cores = jax.tree.map(np.asarray, state.best)
    return Clones(cores, np.asarray(state.when), curve, learn, select, test, chance)


class CloneProgress(NamedTuple):
    """How far an epoch is."""

    epoch: int  # from 1
    done: int  # sequences (or parts of them) of each split
    total: int
    loss: float  # mean over splits and over the last of them
    per_s: float  # sequences of all splits a second


class ClonePace:
    """How many batches are learnt between two lines of progress."""

    def __init__(self, progress: Callable[[CloneProgress], None] | None):
        self.progress, self.batches = progress, 1

    def record(self, batches: int, seconds: float) -> None:
        """Note that so many batches took so long."""
        self.batches = max(1, round(batches * TELL_S / max(seconds, 1e-3)))


class _CloneState(NamedTuple):
    cores: Core  # [split, ...]
    optimiser: PyTree
    best: Core
    likes: Float[Array, " split"]  # the least so far of what the epoch is selected by
    when: Int[Array, " split"]


@dataclass(frozen=True)
class _Static:
    """What is compiled in."""

    shape: Shape
    how: Cloning
    taken: Take  # sequences from `_Material.arrays`
    sequences: int
    steps: int  # of a sequence
    length: int  # steps of a chunk
    batch: int
    size: int  # chunks of an epoch: whole batches of the split that has the fewest
    judge: Callable[..., Array] | None


class _Material(NamedTuple):
    arrays: PyTree  # what sequences are taken from
    learnt: Int[Array, "split chunk"]  # which chunks a split learns from; filled up with -1, which no draw takes
    counts: Float[Array, "split action"]  # how often each action is taken there, and once more
    renamings: Any  # seen, real and named [renaming, ...]; None: nothing is renamed


def _arranged(
    data: Any, shape: Shape, how: Cloning, roles: np.ndarray, judge: Any, renamings: Any
) -> tuple[_Static, _Material, list[Array]]:
    """Return what is compiled in, what it works on, and each split's sequences [split, sequence] by role.

    Lists are filled up with -1; of the sequences learnt from, there are as many as the fit is measured on.
    """
    if isinstance(data, Recordings) and shape.own_turns:
        data = data.of_own_turns()
    steps = data.turn.shape[1]
    length = (how.chunk or steps) if shape.recurrent else 1
    if renamings is not None and shape.recurrent and length < steps:
        # What is remembered at the start of a chunk comes from the game as it was, under the real names.
        raise InterplayError(
            f"algorithm.options.rename: memory does not go on from chunk to chunk under other names; the longest game "
            f"has {steps} steps, and chunk is {length}: set chunk to 0, which takes whole games"
        )
    if isinstance(data, Recordings):
        data = data.padded(length)
    sequences, steps = data.turn.shape
    useful = data.turn.reshape(sequences * (steps // length), length).any(axis=1)  # the others teach nothing
    of_game = np.repeat(data.game, steps // length)
    each = [np.flatnonzero(useful & (of_split[of_game] == LEARN)) for of_split in roles]
    fewest = min(map(len, each))
    if not fewest:
        raise InterplayError("a split has no decisions to learn from")
    batch = min(how.batch, fewest)
    static = _Static(shape, how, data.taken, sequences, steps, length, batch, fewest // batch * batch, judge)
    listed = [[np.flatnonzero(of_split[data.game] == role) for of_split in roles] for role in (LEARN, SELECT, TEST)]
    chosen = np.random.default_rng(0)
    listed[LEARN] = [x if len(x) <= FITTED else np.sort(chosen.permutation(x)[:FITTED]) for x in listed[LEARN]]
    arrays = data.arrays
    names = None if renamings is None else jax.tree.map(jnp.asarray, renamings)
    learnt = _filled(each)
    material = _Material(arrays, learnt, _counts(static, arrays, _filled(listed[LEARN])), names)
    return static, material, [_filled(x) for x in listed]


def _filled(each: list[np.ndarray]) -> Int[Array, "split place"]:
    """Lists of numbers side by side, filled up with -1."""
    most = max(1, *map(len, each))
    return jnp.asarray(np.stack([np.pad(e, (0, most - len(e)), constant_values=-1) for e in each]))


def _rule(how: Cloning) -> optax.GradientTransformation:
    decay = optax.add_decayed_weights(how.weight_decay)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(), decay)


@partial(jax.jit, static_argnums=0)
def _start(static: _Static, material: _Material, key: PRNGKeyArray) -> _CloneState:
    number = material.learnt.shape[0]
    cores: Any = jax.vmap(lambda k: Core(static.shape, 0.01, k))(jax.random.split(key, number))
    worst, never = jnp.full(number, jnp.inf), jnp.zeros(number, jnp.int32)
    best = jax.tree.map(jnp.copy, cores)
    return _CloneState(cores, jax.vmap(_rule(static.how).init)(cores), best, worst, never)


def _pass(
    static: _Static, material: _Material, state: _CloneState, epoch: int, key: PRNGKeyArray, pace: ClonePace
) -> _CloneState:
    """A pass of every split over its chunks, in a new order, a few batches after the other."""
    keys = jax.random.split(key, material.learnt.shape[0])
    orders, memories = _ordered(static, material, state.cores, keys)
    cores, optimiser, total, first = state.cores, state.optimiser, orders.shape[1], 0
    while first < total:
        many, began = min(pace.batches, total - first), time.perf_counter()
        numbers = jnp.int32(epoch), jnp.int32(first), jnp.int32(many)
        cores, optimiser, loss = _learn(static, material, cores, optimiser, orders, memories, keys, *numbers)
        lost = float(jnp.mean(loss)) / many
        seconds = time.perf_counter() - began
        pace.record(many, seconds)
        first += many
        if pace.progress is not None:
            speed = many * static.batch * len(keys) / seconds
            pace.progress(CloneProgress(epoch + 1, first * static.batch, total * static.batch, lost, speed))
    return state._replace(cores=cores, optimiser=optimiser)


@partial(jax.jit, static_argnums=0)
def _ordered(static: _Static, material: _Material, cores: PyTree, keys: PRNGKeyArray) -> tuple[Array, Any]:
    """Each split's batches [split, batch, chunk], and the memory with which chunks begin (None: an empty one)."""

    def order(mine: Array, key: PRNGKeyArray) -> Array:
        drawn = mine[jnp.argsort(jnp.where(mine >= 0, jax.random.uniform(key, mine.shape), 2.0))[: static.size]]
        return drawn.reshape(-1, static.batch)

    memories = None
    if static.shape.recurrent and static.length < static.steps:
        memories = jax.vmap(partial(_memories, static, material.arrays))(cores)
    return jax.vmap(order)(material.learnt, keys), memories


@partial(jax.jit, static_argnums=0, donate_argnums=(2, 3))
def _learn(
    static: _Static,
    material: _Material,
    cores: PyTree,
    optimisers: Any,
    orders: Int[Array, "split batch chunk"],
    memories: Any,
    keys: PRNGKeyArray,
    epoch: Array,
    first: Array,
    many: Array,
) -> tuple[Any, Any, Float[Array, " split"]]:
    """Update every split by a number of batches; return the sums of their losses."""
    how, batches, rule = static.how, orders.shape[1], _rule(static.how)

    def step(core: PyTree, optimiser: PyTree, which: Array, memory: PyTree, key: PRNGKeyArray, number: Array) -> tuple:
        part = static.taken(material.arrays, which, static.length)
        for_names, for_dropout = jax.random.split(jax.random.fold_in(key, number))
        if material.renamings is not None:
            part = _renamed(part, material.renamings, for_names)
        before = jnp.zeros((static.batch, static.shape.memory)) if memory is None else memory[which]
        lost, gradient = jax.value_and_grad(lambda c: _loss(c, before, part, how.dropout, for_dropout))(core)
        updates, optimiser = rule.update(gradient, optimiser, core)
        rate = schedule.at(how.learning_rate, number / (how.epochs * batches))
        return jax.tree.map(lambda w, u: w - rate * u, core, updates), optimiser, lost

    def batch(i: Array, carry: tuple) -> tuple:
        cores, optimisers, total = carry
        number = epoch * batches + i
        of_split = jax.vmap(step, in_axes=(0, 0, 0, None if memories is None else 0, 0, None))
        cores, optimisers, lost = of_split(cores, optimisers, orders[:, i], memories, keys, number)
        return cores, optimisers, total + lost

    none = jnp.zeros(orders.shape[0])
    return jax.lax.fori_loop(first, first + many, batch, (cores, optimisers, none))


@partial(jax.jit, static_argnums=0)
def _kept(static: _Static, state: _CloneState, select: Array, number: Array) -> tuple[_CloneState, Array]:
    """Keep the network of a split if it has the best score so far."""
    now = select if static.judge is None else -static.judge(state.cores)
    better = now < state.likes
    kept = jax.tree.map(lambda a, b: jnp.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b), state.cores, state.best)
    when = jnp.where(better, number + 1, state.when)
    return state._replace(best=kept, likes=jnp.minimum(now, state.likes), when=when), now


def _renamed(part: Sequences, names: Any, key: PRNGKeyArray) -> Sequences:
    """Every sequence with colours of other names: what is seen and legal is gathered, what was done is renamed."""
    which = jax.random.randint(key, part.action.shape[:1], 0, names.seen.shape[0])
    gather = jax.vmap(lambda x, index: jnp.take(x, index, axis=-1))
    return part._replace(
        seen=gather(part.seen, names.seen[which]),
        legal=gather(part.legal, names.real[which]),
        action=jax.vmap(lambda a, index: index[a])(part.action, names.named[which]),
    )


def _mapped(static: _Static, arrays: PyTree, which: Int[Array, " sequence"], one: Callable[..., Any]) -> Any:
    """`one` of each of these whole sequences, a few at a time."""

    def of_sequence(number: Array) -> PyTree:
        taken = static.taken(arrays, number[None], static.steps)
        return one(jax.tree.map(lambda x: x[0], taken))

    return jax.lax.map(of_sequence, which, batch_size=max(1, AT_ONCE // static.steps))


def _memories(static: _Static, arrays: PyTree, core: PyTree) -> Float[Array, "chunk memory"]:
    """The memory with which each chunk begins, by the network as it is at the start of the epoch."""

    def one(sequence: Sequences) -> Array:
        after, _ = core.unroll(core.start(), sequence.seen, sequence.start)
        ends = after[static.length - 1 :: static.length]
        return jnp.concatenate([core.start()[None], ends[:-1]])

    return _mapped(static, arrays, jnp.arange(static.sequences), one).reshape(-1, static.shape.memory)


@partial(jax.jit, static_argnums=0)
def _fit(static: _Static, material: _Material, cores: PyTree, which: Int[Array, "split sequence"]) -> Any:
    """[split] over the decisions of these sequences."""

    def of_split(core: PyTree, mine: Array) -> tuple[Array, Array]:
        return _mean(static, material.arrays, mine, lambda sequence: predictions(core, sequence))

    return Fit(*jax.vmap(of_split)(cores, which))  # type: ignore[arg-type]


@partial(jax.jit, static_argnums=0)
def _chance(static: _Static, material: _Material, which: Int[Array, "split sequence"]) -> Any:
    """The same of a guess by how often each action is taken, without looking; among the legal ones."""

    def of_split(counts: Array, mine: Array) -> tuple[Array, Array]:
        def guess(sequence: Sequences) -> tuple[Array, Array]:
            allowed = sequence.legal * counts
            odds = jnp.log(allowed) - jnp.log(jnp.sum(allowed, axis=-1, keepdims=True))
            right = jnp.argmax(allowed, axis=-1) == sequence.action
            return -jnp.where(sequence.turn, chosen(odds, sequence.action), 0.0), (right & sequence.turn) * 1.0

        return _mean(static, material.arrays, mine, guess)

    return Fit(*jax.vmap(of_split)(material.counts, which))  # type: ignore[arg-type]


def _mean(static: _Static, arrays: PyTree, which: Int[Array, " sequence"], judged: Callable[..., Any]) -> tuple:
    """Return means of values [step] over the decisions of the sequences; -1 where there is none."""

    def one(sequence: Sequences) -> tuple[Array, Array, Array]:
        loss, right = judged(sequence)
        return jnp.sum(loss), jnp.sum(right), jnp.sum(sequence.turn)

    loss, right, decisions = _mapped(static, arrays, jnp.maximum(which, 0), one)
    there = (which >= 0).astype(jnp.float32)
    total = jnp.maximum(jnp.sum(decisions * there), 1.0)
    return jnp.sum(loss * there) / total, jnp.sum(right * there) / total


@partial(jax.jit, static_argnums=0)
def _counts(static: _Static, arrays: PyTree, which: Int[Array, "split sequence"]) -> Float[Array, "split action"]:
    """How often each action was taken in these sequences' decisions, and once more."""

    def one(sequence: Sequences) -> Array:
        taken = jax.nn.one_hot(sequence.action, static.shape.outputs) * sequence.turn[:, None]
        return jnp.sum(taken, axis=0)

    def of_split(mine: Array) -> Array:
        counts = _mapped(static, arrays, jnp.maximum(mine, 0), one)
        return jnp.sum(counts * (mine >= 0)[:, None], axis=0) + 1.0

    return jax.vmap(of_split)(which)


def predictions(core: Core, sequence: Any) -> tuple[Float[Array, " step"], Float[Array, " step"]]:
    """Return of every step minus the log-likelihood of its action, and whether it was the likeliest.

    Both are 0 where there was nothing to choose.
    """
    _, features = core.unroll(core.start(), sequence.seen, sequence.start)
    odds = log_probs(core.decoded(features), sequence.legal)
    right = jnp.argmax(odds, axis=-1) == sequence.action
    return -chosen(odds, sequence.action) * sequence.turn, (right & sequence.turn).astype(jnp.float32)


def _loss(core: Core, memory: Array, part: Sequences, dropout: float, key: PRNGKeyArray) -> Array:
    features = core.unroll_all(memory, part.seen, part.start)
    odds = log_probs(core.decoded(features, dropout, key), part.legal)
    return -jnp.sum(chosen(odds, part.action) * part.turn) / jnp.maximum(jnp.sum(part.turn), 1)
