"""How well policies foresee what people did, in games that their clone was not trained on.

Nats and shares per decision: the likeliest action, and whether the action taken is among the likeliest tenth and fifth
of all (two and four of twenty at two players, three and six of thirty at three), with bootstrap intervals over games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

NAMES = ("cross_entropy", "accuracy", "top_10_percent", "top_20_percent")
LEAST = 3  # splits that a clone can be trained on


class People:
    """Recorded games, replayed only as far as they are asked for."""

    def __init__(self, game: Any, games: Sequence[Any], splits: int, encoding: str = "belief"):
        from interplay.training.imitation.clone import splits as roles

        self.game, self.games, self.encoding = game, list(games), encoding
        persons = [g.person for g in self.games]
        known = any(p is not None for p in persons)
        person = np.array([-1 - i if p is None else p for i, p in enumerate(persons)]) if known else None
        self.roles = roles(len(self.games), max(LEAST, splits), 0, person)
        self._replayed: dict[Any, Any] = {}

    def held_out(self, split: int | None, own_turns: bool, most: int | None = None) -> Any:
        """The games that a split's clone never saw (all games for those that learnt of no people)."""
        from interplay.training.imitation.clone import TEST
        from interplay.training.imitation.recordings import replayed

        place = split, most
        if place not in self._replayed:
            chosen = np.arange(len(self.games)) if split is None else np.flatnonzero(self.roles[split] == TEST)
            if most is not None and len(chosen) > most:
                chosen = np.sort(np.random.default_rng(0).permutation(chosen)[:most])
            data = replayed(self.game, [self.games[i] for i in chosen], self.encoding)
            self._replayed = {place: data}  # one at a time: they are large
        data = self._replayed[place]
        return data.of_own_turns() if own_turns else data


def judged(core: Any, data: Any, ranks: Sequence[int]) -> np.ndarray:
    """[sequence, (nats, hits by rank ..., decisions)]: sums over each sequence's decisions."""
    import equinox as eqx
    import jax.numpy as jnp

    arrays = tuple(jnp.asarray(x) for x in (data.seen, data.legal, data.action, data.turn, data.start))
    return np.stack([np.asarray(x, float) for x in eqx.filter_jit(_sums)(core, arrays, tuple(ranks))], axis=1)


def _sums(core: Any, arrays: tuple[Any, ...], ranks: tuple[int, ...]) -> tuple[Any, ...]:
    import jax
    import jax.numpy as jnp

    from interplay.training.loss import chosen, log_probs

    def one(part: tuple) -> tuple:
        seen, legal, action, turn, start = part
        odds = log_probs(core.outputs(core.unroll(core.start(), seen, start)[1], seen), legal)
        own = chosen(odds, action)
        above = jnp.sum(odds > own[:, None], axis=-1)
        hits = [jnp.sum((above < rank) & turn) for rank in ranks]
        return jnp.sum(-own * turn), *hits, jnp.sum(turn)

    return jax.lax.map(one, arrays, batch_size=64)


def foreseen(people: People, policies: Mapping[str, Any], most: int | None) -> dict[str, Any]:
    """By policy that reads what clones read; those of one split one after the other."""
    real = len(people.game.action_names) - 1  # the last is waiting
    ranks = (1, round(real / 10), round(real / 5))
    mine = {name: agent for name, agent in policies.items() if agent.policy.reads == people.encoding}
    found = {}
    for name in sorted(mine, key=lambda n: str(held_out_by(n, mine[n].config))):
        agent = mine[name]
        split = held_out_by(name, agent.config)
        data = people.held_out(split, getattr(agent.policy.core.shape, "own_turns", False), most)
        sums = judged(agent.policy.core, data, ranks)
        found[name] = shares(by_game(sums, data.game)) | {"split": split}
        print(f"{name}: {found[name]['cross_entropy']}", flush=True)
    return found


def held_out_by(name: str, config: Mapping[str, Any]) -> int | None:
    """The split whose held-out games a policy never saw: that of its clone, `run3` of a stage or the shipped `bc-4`."""
    if name.startswith("bc"):
        return int(config["run"])
    clone = str(config.get("clone", ""))
    if "/bc-" in clone:
        return int(clone.rsplit("-", 1)[1]) - 1
    return int(clone.removeprefix("run")) if clone.startswith("run") else None


def by_game(sums: np.ndarray, game: np.ndarray) -> np.ndarray:
    """[sequence, ...] -> [game, ...]: seats of one game are drawn together."""
    numbers, place = np.unique(game, return_inverse=True)
    found = np.zeros((len(numbers), sums.shape[1]))
    np.add.at(found, place, sums)
    return found


def shares(sums: np.ndarray, draws: int = 400) -> dict[str, Any]:
    """[game, (nats, hits..., decisions)] -> means per decision and their 95 % bootstrap intervals over games."""
    chosen = np.random.default_rng(0).integers(0, len(sums), (draws, len(sums)))
    resampled = sums[chosen].sum(axis=1)
    whole = sums.sum(axis=0)
    found: dict[str, Any] = {"decisions": int(whole[-1]), "games": len(sums)}
    for column, name in enumerate(NAMES):
        low, high = np.percentile(resampled[:, column] / resampled[:, -1], [2.5, 97.5])
        mean = whole[column] / whole[-1]
        found[name] = {"mean": round(float(mean), 4), "low": round(float(low), 4), "high": round(float(high), 4)}
    return found
