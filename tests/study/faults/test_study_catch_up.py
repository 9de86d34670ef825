"""Games that are brought to where they were, many at once, are exactly those that were left."""

import numpy as np
import pytest

from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.rollout.live import LiveTable, live_engine


@pytest.fixture(scope="module")
def engine():
    made = live_engine(make("overcooked/cramped_room", horizon=30), {"wild": agent("random")}, sizes=(4,))
    yield made
    made.close()


def test_games_brought_back_together_go_on_as_they_would_have(engine):
    rng = np.random.default_rng(0)
    played, lengths = [], (0, 1, 7, 12, 29, 30)
    for number, length in enumerate(lengths):
        table = LiveTable((number, 5), {1: "wild"})
        engine.begin(table).result(60)
        for _ in range(length):
            joint = np.array([rng.integers(6), table.pending[1].action])
            engine.step(table, joint).result(60)
        played.append(table)
    again = [LiveTable(table.chance, {1: "wild"}) for table in played]
    asked = [engine.begin(new, [a.tolist() for a in old.actions]) for new, old in zip(again, played, strict=True)]
    for told, new, old in zip(asked, again, played, strict=True):
        told.result(60)
        assert (new.t, new.recorder.check, new.done, new.score) == (old.t, old.recorder.check, old.done, old.score)
        one, other = (table.episode([], 0) for table in (new, old))
        assert one.check_steps.tolist() == other.check_steps.tolist()
        assert one.checks.tolist() == other.checks.tolist()
        if not old.done:
            assert new.pending[1] == old.pending[1]


def test_a_game_that_cannot_be_brought_back_fails_alone(engine):
    """What is stored fits no game: that one fails, and games in play go on."""
    fine, broken = LiveTable((1, 1), {1: "wild"}), LiveTable((2, 2), {1: "wild"})
    engine.begin(fine).result(60)
    with pytest.raises(InterplayError, match="not of this game"):
        engine.begin(broken, [[0, 0], [0]]).result(60)
    engine.step(fine, np.array([0, 0])).result(60)
    assert fine.t == 1
