"""Fit levels of skill to games of people: how often each rule of the H-Group bot is missed, and how it is chosen from.

    python benchmarks/hanabi_learning/fit_levels.py --games humans.npz --split 3 --levels 3

humans.npz is what `interplay export TRACES --to recorded --learn human` writes. A person has one level in all games;
what is maximised is the likelihood of all decisions of people who are not held out, of each at most so many games,
since a few people played most of them. `--split` is the split of the clones (run 3 of bc_2p, the shipped bc-4) whose
test games are held out here too. Prints and writes results/levels_2p.json: the levels' numbers, their shares, and nats
and accuracy on held-out people, of each level, of all by their shares (`by_decision`), and of all with one level for
each person (`by_person`). `src/interplay/agents/hanabi/hgroup_skill.py` holds these numbers as agents.

Needs jax, equinox, optax and numpy alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from roster import RESULTS

from interplay.agents.hanabi.hgroup_bot import HGroup, Offers
from interplay.agents.hanabi.hgroup_skill import RULE_NAMES, Lapses
from interplay.games.registry import make
from interplay.rollout.recorded_games import Recorded, load
from interplay.training.imitation.clone import TEST, splits
from interplay.training.imitation.recordings import GameStream, arrays_of, kinds_of, persons_of, walk

AT_ONCE = 128  # games
SPLITS = 5  # of the clones


class Decisions(NamedTuple):
    """What people decided, and what the bot's rules offered there."""

    applies: Any  # [decision, rule]
    scores: Any  # [decision, rule, action]
    legal: Any  # [decision, action]
    action: Any  # [decision]
    game: Any  # [decision]


def decisions_of(game: Any, games: list[Recorded]) -> Decisions:
    """Every decision of the seats to learn from, with the bot looking on from that seat."""
    bot, stream, kinds = HGroup().bind(game), GameStream(game, games, "belief"), kinds_of(game, games, "belief")
    arrays = arrays_of(game, games, stream.turn.shape[1])
    seats = np.asarray(stream.arrays.of_seat)
    found: list[Any] = [None] * len(seats)
    for number, by in enumerate(kinds.games):
        watched = jax.jit(jax.vmap(partial(look_on, bot, game, by)))
        mine = np.flatnonzero(kinds.of[stream.game] == number)
        for first in range(0, len(mine), AT_ONCE):
            block = mine[first : first + AT_ONCE]
            rows = np.resize(block, min(AT_ONCE, len(mine)))
            of = stream.game[rows]
            told = watched({n: x[of] for n, x in arrays.starts.items()}, arrays.actions[of], seats[rows])
            for place, sequence in enumerate(block):
                turn = stream.turn[sequence]
                moves = arrays.actions[stream.game[sequence], :, seats[sequence]][turn]
                what = [np.asarray(x[place])[turn] for x in told]
                found[sequence] = [*what, moves, np.full(len(moves), stream.game[sequence])]
    return Decisions(*(np.concatenate(x) for x in zip(*found, strict=True)))


def look_on(bot: Any, game: Any, by: Any, start: Any, actions: Any, seat: Any) -> Any:
    """What the bot's rules offer in a seat before every step, and what is legal there."""

    def look(memory: Any, state: Any) -> Any:
        seen = by.observe_as(state, "seen", seat)
        memory = bot.look(memory, seen)
        offers = bot.offers(memory.model, seen)
        return memory, (offers.applies, offers.scores, game.legal(state)[seat])

    states = walk(by, start, actions, lambda state: state)[0]
    return jax.lax.scan(look, bot.init(jax.random.key(0), seat), states)[1]


def lapses(free: dict[str, Any]) -> Lapses:
    """Numbers without bounds as those of a level."""
    missed, random = jax.nn.sigmoid(free["missed"]), jax.nn.sigmoid(free["random"])
    return Lapses(missed, jnp.exp(free["temperature"]), random)


def log_odds(level: Lapses, data: Decisions) -> Any:
    """[decision, action]"""
    each = jax.vmap(lambda a, s, legal: level.odds(Offers(a, s), legal))
    return jnp.log(jnp.maximum(each(data.applies, data.scores, data.legal), 1e-12))


def by_level(levels: dict[str, Any], data: Decisions) -> Any:
    """[level, decision] the logarithm of the likelihood of what was decided."""
    numbers = {name: x for name, x in levels.items() if name != "share"}
    chosen = jnp.asarray(data.action, jnp.int32)[:, None]
    return jax.vmap(lambda free: jnp.take_along_axis(log_odds(lapses(free), data), chosen, axis=1)[:, 0])(numbers)


def likelihood(levels: dict[str, Any], data: Decisions, person: Any, people: int, sharp: Any = 1.0) -> Any:
    """[person] the logarithm of the likelihood of all that a person decided, whose level is not known. Below 1, `sharp`
    leaves levels open for longer."""
    sums = jax.vmap(lambda x: jax.ops.segment_sum(x, person, people))(by_level(levels, data))
    return jax.nn.logsumexp(jax.nn.log_softmax(levels["share"])[:, None] + sharp * sums, axis=0) / sharp


def fitted(data: Decisions, person: np.ndarray, number: int, steps: int) -> dict[str, Any]:
    """The likeliest levels, best first."""
    _, group = np.unique(person, return_inverse=True)
    people, many = int(group.max()) + 1, len(group)
    apart = jnp.linspace(-1.0, 1.0, number) if number > 1 else jnp.zeros(1)
    rules = data.applies.shape[1]
    levels = {
        "missed": jnp.tile(apart[:, None] - 0.5, (1, rules)),
        "temperature": jnp.ones((number, 3)),
        "random": apart - 2.0,
        "share": jnp.zeros(number),
    }
    rule = optax.adam(optax.cosine_decay_schedule(0.15, steps))

    @jax.jit
    def step(levels: Any, state: Any, data: Decisions, group: Any, sharp: Any) -> tuple[Any, Any]:
        loss = lambda x: -jnp.sum(likelihood(x, data, group, people, sharp)) / many  # noqa: E731
        slope = jax.grad(loss)(levels)
        slope["share"] = jnp.where(sharp < 1, 0.0, slope["share"])  # so that no level is given up before it is found
        updates, state = rule.update(slope, state)
        return optax.apply_updates(levels, updates), state

    state, held, groups = rule.init(levels), jax.tree.map(jnp.asarray, data), jnp.asarray(group)
    few = min(1.0, people / many)  # so that at first a person counts no more than a decision
    for number_of in range(steps):
        sharp = few ** max(0.0, 1 - 2 * number_of / steps)
        levels, state = step(levels, state, held, groups, sharp)
    return jax.tree.map(np.asarray, levels)


def judged(levels: dict[str, Any], data: Decisions, person: np.ndarray) -> dict[str, Any]:
    """Nats and accuracy on decisions of people."""
    _, group = np.unique(person, return_inverse=True)
    each = by_level(levels, data)
    shares = jax.nn.softmax(levels["share"])
    mixed = jnp.log(shares @ jnp.exp(each))
    total = jnp.sum(likelihood(levels, data, jnp.asarray(group), int(group.max()) + 1))
    numbers = {name: x for name, x in levels.items() if name != "share"}
    right = []
    for number in range(len(shares)):
        level = lapses({name: x[number] for name, x in numbers.items()})
        right.append(float(np.mean(np.argmax(log_odds(level, data), axis=1) == data.action)))
    return {
        "decisions": len(group),
        "people": int(group.max()) + 1,
        "by_person": float(-total / len(group)),
        "by_decision": float(-jnp.mean(mixed)),
        "of_level": [round(float(x), 4) for x in -jnp.mean(each, axis=1)],
        "accuracy": [round(x, 4) for x in right],
    }


def some(data: Decisions, which: np.ndarray) -> Decisions:
    return Decisions(*(x[which] for x in data))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=Path, required=True, help="recorded games of people, .npz")
    parser.add_argument("--players", type=int, default=2, choices=(2, 3))
    parser.add_argument("--split", type=int, default=3, help="whose test games are held out")
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument("--most", type=int, default=10, help="games of one person to learn from")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--out", type=Path, help="default: results/levels_2p.json")
    args = parser.parse_args()
    game, games = make(f"hanabi/{args.players}p"), load(args.games)
    data, person = decisions_of(game, games), persons_of(games)
    person = np.arange(len(games)) if person is None else person
    held_out = splits(len(games), SPLITS, 0, person)[args.split] == TEST
    earlier = np.array([np.sum(person[:i] == person[i]) for i in range(len(games))])
    learn = some(data, (~held_out & (earlier < args.most))[data.game])
    levels = fitted(learn, person[learn.game], args.levels, args.steps)
    order = np.argsort(levels["missed"].mean(axis=1))  # the most skilled first
    levels = {name: x[order] for name, x in levels.items()}
    test = some(data, held_out[data.game])
    rows = []
    for number in range(args.levels):
        level = lapses({name: x[number] for name, x in levels.items() if name != "share"})
        rows.append(
            {
                "share": round(float(jax.nn.softmax(levels["share"])[number]), 3),
                "missed": {name: round(float(x), 3) for name, x in zip(RULE_NAMES, level.missed, strict=True)},
                "temperature": [round(float(x), 3) for x in level.temperature],
                "random": round(float(level.random), 3),
            }
        )
    result = {
        "kind": "levels",
        "players": args.players,
        "split": args.split,
        "learnt": judged(levels, learn, person[learn.game]),
        "held_out": judged(levels, test, person[test.game]),
        "levels": rows,
    }
    path = args.out or RESULTS / f"levels_{args.players}p.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
