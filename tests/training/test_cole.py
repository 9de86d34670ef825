"""Cooperative open-ended learning: the graph against slow definitions, and generations end to end."""

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.training import log
from interplay.training.algorithms import train
from interplay.training.algorithms.cole import COLE, LOOSER_AFTER, COLEOptions
from interplay.training.algorithms.cole_graph import (
    accepts,
    odds_by_rank,
    odds_by_shapley,
    outranks,
    pagerank,
    shapley,
)
from interplay.training.compiled_stage import Program
from interplay.training.config import Algorithm

UTILITY = np.array([[60.0, 20.0, 5.0, 9.0], [20.0, 30.0, 0.0, 9.0], [5.0, 0.0, 8.0, 9.0], [9.0, 9.0, 9.0, 9.0]])
ALIVE = np.array([True, True, True, False])


def slow_pagerank(weights):
    """By solving its equation."""
    number = len(weights)
    sums = weights.sum(axis=1, keepdims=True)
    moves = np.where(sums > 0, weights / np.maximum(sums, 1e-12), 1 / number)
    return np.linalg.solve(np.eye(number) - 0.85 * moves.T, np.full(number, 0.15 / number))


def slow_value(members):
    if not members:
        return 0.0
    table = UTILITY[np.ix_(members, members)]
    hard = np.exp(-10 * slow_pagerank(table))
    return max(0.0, float(np.sum(table @ (hard / hard.sum())) / len(members)))


def test_pagerank_solves_its_equation():
    found = jax.jit(pagerank)(jnp.asarray(UTILITY, jnp.float32), ALIVE)
    np.testing.assert_allclose(found[:3], slow_pagerank(UTILITY[:3, :3]), atol=2e-3)
    assert float(found[3]) == 0.0


@pytest.fixture(scope="module")
def values():
    return jax.jit(shapley, static_argnums=3)(jnp.asarray(UTILITY, jnp.float32), ALIVE, jax.random.key(0), 2000)


def test_shapley_values_agree_with_all_orders(values):
    exact = np.zeros(4)
    orders = list(itertools.permutations(range(3)))
    for order in orders:
        for place, who in enumerate(order):
            added = slow_value(sorted(order[: place + 1])) - slow_value(sorted(order[:place]))
            exact[who] += max(0.0, added) / len(orders)
    np.testing.assert_allclose(values, exact, rtol=0.06, atol=0.02)
    assert exact[0] > exact[1] > exact[2] > 0


def test_who_adds_little_is_met_often():
    solve = jax.jit(odds_by_shapley, static_argnums=4)
    alike = solve(jnp.asarray(UTILITY, jnp.float32), ALIVE, jnp.full(4, 9.0), jax.random.key(0), 200)
    assert alike[2] > alike[1] > alike[0]
    assert float(alike[3]) == 0.0
    seldom = solve(jnp.asarray(UTILITY, jnp.float32), ALIVE, jnp.array([0.0, 9.0, 9.0, 0.0]), jax.random.key(0), 200)
    assert seldom[0] > alike[0] + 0.1
    ranked = odds_by_rank(UTILITY, ALIVE, 1.0)
    np.testing.assert_allclose(ranked, [1 / 6, 2 / 6, 3 / 6, 0.0], atol=1e-6)


def test_the_others_decide_who_is_taken():
    liked, disliked = np.full((5, 5), 3.0), np.full((5, 5), 3.0)
    liked[-1] = liked[:, -1] = 9.0
    disliked[0] = disliked[:, 0] = 9.0
    assert accepts(liked, 0.1)
    assert not accepts(disliked, 0.1)
    assert accepts(disliked, 0.9)  # then even the oldest is new enough
    assert outranks(liked, 0.1)
    assert not outranks(np.minimum(disliked, liked) - np.diag([0, 0, 0, 0, 5.0]), 0.1)


OPTIONS = {
    "population": 4,
    "initial": 2,
    "generation_steps": 16 * 4 * 8,
    "self_play_generations": 1,
    "groups": 2,
    "partner_tables": 3,
    "rounds": 1,
    "permutations": 20,
}


@pytest.fixture(scope="module")
def settings():
    from tests.training.conftest import small

    return small(
        algorithm=Algorithm("cole", OPTIONS), rollout=4, steps=16 * 4 * 64, output={"logs": 8}, ppo={"minibatches": 1}
    )


@pytest.fixture(scope="module")
def traced():
    return []


@pytest.fixture(scope="module")
def whole(settings, traced):
    """Eight generations, and how often the program of an update was traced."""
    update = Program._update_all

    def counted(self, *arguments):
        traced.append(self)
        return update(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "_update_all", counted)
        return train(settings, quiet=True)


@pytest.mark.slow
def test_generations_share_one_program_and_the_ego_learns(whole, traced):
    assert len(traced) == 1
    ends = [line for line in whole.curve if "population" in line]
    assert [line["update"] for line in ends] == list(range(8, 65, 8))
    assert ends[-1]["population"] == [4, 4]  # full, so that some made room
    assert max(ends[-1]["generation"]) > 4 - 2
    assert np.mean(whole.returns(2)) > 6.5
    assert whole.returns().shape == (2, 1)


@pytest.mark.slow
def test_a_killed_run_goes_on_with_its_population(settings, whole, tmp_path, monkeypatch):
    output = dataclasses.replace(settings.output, folder=str(tmp_path))
    given = dataclasses.replace(settings, output=output)
    write = log.Log.add

    def killed(self, line):
        write(self, line)
        if line["update"] == 56:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(log.Log, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            train(given, quiet=True)
    again = train(given, quiet=True)
    for one, other in zip(*(jax.tree_util.tree_leaves(x.members) for x in (whole, again)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(again.policies) == 2


def test_a_full_population_lets_an_old_one_go(settings):
    options = COLEOptions(**OPTIONS)
    method = COLE.create(settings, options)
    book = {
        "utility": np.ones((2, 4, 4), np.float32),
        "born": np.array([[0, 0, 1, 2], [0, 0, -1, -1]]),
        "generation": np.array([2, 0]),
        "tries": np.array([0, 0]),
    }
    low = np.full((2, 5), 0.5, np.float32)
    for attempt in range(2):
        places, told = method._accept(book, low, update=attempt)
        assert places.tolist() == [-1, -1]
        assert told["preferred"] == [False, False]
    places, _ = method._accept(book, low, update=2)  # the third try
    assert places[1] == 2
    assert book["born"][0, places[0]] == 3
    assert book["utility"][0, places[0], places[0]] == 0.5
    assert book["tries"].tolist() == [0, 0]
    assert LOOSER_AFTER == 50


def test_options_that_cannot_be(experiment):
    for options, message in (
        ({"solver": "guess"}, "solver: 'guess'; shapley or rank"),
        ({"initial": 50}, "initial: 50; from 1 to less than the population of 4"),
        ({"generation_steps": 1e9}, "a generation of 1e\\+09 steps is more than all 4608 steps"),
        ({"groups": 3}, "16 cannot be shared equally among 12 tables"),
    ):
        with pytest.raises(InterplayError, match=message):
            train(experiment(algorithm=Algorithm("cole", OPTIONS | options)), quiet=True)
