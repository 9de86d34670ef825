"""Games that are brought to where they were, many at once, are exactly those that were left."""

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.study.arena import Arena, Table


@pytest.fixture(scope="module")
def arena():
    made = Arena(make("overcooked/cramped_room", horizon=30), {"wild": "random"}, sizes=(4,))
    yield made
    made.close()


def test_games_brought_back_together_go_on_as_they_would_have(arena):
    rng = np.random.default_rng(0)
    played, lengths = [], (0, 1, 7, 12, 29, 30)
    for number, length in enumerate(lengths):
        table = Table((number, 5), {1: "wild"})
        arena.begin(table).result(60)
        for _ in range(length):
            joint = np.array([rng.integers(6), table.pending[1].result(60).action])
            arena.step(table, joint).result(60)
        played.append(table)
    again = [Table(table.chance, {1: "wild"}) for table in played]
    asked = [arena.begin(new, [a.tolist() for a in old.actions]) for new, old in zip(again, played, strict=True)]
    for told, new, old in zip(asked, again, played, strict=True):
        told.result(60)
        assert (new.t, new.check, new.done, new.score) == (old.t, old.check, old.done, old.score)
        assert (new.check_steps, new.checks) == (old.check_steps, old.checks)
        if not old.done:
            assert new.pending[1].result(60) == old.pending[1].result(60)


def test_a_game_that_cannot_be_brought_back_fails_alone(arena):
    """What is stored fits no game: that one fails, and games in play go on."""
    fine, broken = Table((1, 1), {1: "wild"}), Table((2, 2), {1: "wild"})
    arena.begin(fine).result(60)
    with pytest.raises(InterplayError, match="not of this game"):
        arena.begin(broken, [[0, 0], [0]]).result(60)
    arena.step(fine, np.array([0, 0])).result(60)
    assert fine.t == 1
