"""Self-play with a copy that lags and errs."""

import jax
import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.training.algorithms import train
from interplay.training.config import Algorithm


@pytest.fixture(scope="module")
def trained():
    from tests.training.conftest import small

    return train(small(algorithm=Algorithm("e3t", {"epsilon": 0.5})), quiet=True)


def test_only_the_ego_is_right(trained):
    """4 points of its own; of the partner's 4, half by chance and half of the rest."""
    assert np.mean(trained.returns(2)) == pytest.approx(4 + 3, abs=0.35)
    assert trained.returns().shape == (2, 1)


def test_options_that_cannot_be(experiment):
    with pytest.raises(InterplayError, match=r"epsilon: 2\.0; from 0 to 1"):
        train(experiment(algorithm=Algorithm("e3t", {"epsilon": 2})), quiet=True)


def test_the_partner_follows_the_ego(experiment):
    """At first it is the ego; then nine tenths of itself and one of the ego."""
    from interplay.agents.basic import Noisy
    from interplay.games.registry import make
    from interplay.training.algorithms.e3t import _any, follow
    from interplay.training.members import new_member

    given, game = experiment(), make("tests.training.toys:Match")
    members = jax.vmap(lambda k: new_member(game, given.network, 0, k))(jax.random.split(jax.random.key(1), 1))
    guests = jax.tree_util.tree_map(lambda x: x[None], Noisy(_any(given, game), 0.5))
    begun = follow(members, guests, True, decay=0.9)
    np.testing.assert_array_equal(begun.base.core.head.weight, members.policy.head.weight)
    later = jax.tree_util.tree_map(lambda x: x + 1, members)
    moved = follow(later, begun, False, decay=0.9)
    np.testing.assert_allclose(moved.base.core.head.weight, members.policy.head.weight + 0.1, atol=1e-6)
    assert float(moved.epsilon[0]) == 0.5
