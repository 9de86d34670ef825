"""The planes that GPUs make, four cells to a word, are the planes that CPUs make."""

import jax
import numpy as np
import pytest

import interplay
from interplay.games.overcooked import encodings
from interplay.games.overcooked import packed_planes as packed
from tests.games.overcooked import oracle


@pytest.mark.parametrize(
    ("name", "players"),
    [("counter_circuit_multi", 2), ("forced_coordination", 2), ("cramped_room", 3)],  # 40, 25 and 20 cells
)
def test_words_and_bytes_agree(name, players):
    game = interplay.make(f"overcooked/{name}", players=players)
    rng = np.random.default_rng(0)
    states = [oracle.random_state(game, rng) for _ in range(200)]
    batch = jax.tree_util.tree_map(lambda *leaves: np.stack(leaves), *states)
    by_byte = jax.jit(jax.vmap(lambda s: encodings._bytewise(game.kitchen, s)))(batch)
    by_word = jax.jit(jax.vmap(lambda s: packed.planes(game.kitchen, s, encodings.MAP_PLANES, encodings.URGENT)))(batch)
    assert by_word.dtype == by_byte.dtype
    np.testing.assert_array_equal(by_word, by_byte)
