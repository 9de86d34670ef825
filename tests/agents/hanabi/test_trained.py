"""The trained Hanabi policies that come with the package."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.agents.registry import agent
from interplay.agents.shipped import shipped
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.rollout.engine import run as play
from interplay.rollout.teams import Team


def test_they_are_there_and_tell_how_they_were_made():
    names = [name for name in shipped() if name.startswith("hanabi/")]
    assert {f"hanabi/2p/{name}" for name in ("ippo-1", "op-1", "obl1-1", "proxy-1", "proxy-2")} <= set(names)
    assert {"hanabi/3p/proxy-1", "hanabi/3p/proxy-2"} <= set(names)
    for name in names:
        found = agent(f"trained/{name}")
        found.policy.bind(make(name.rpartition("/")[0]))  # type: ignore[union-attr]
        clone = found.config["algorithm"] == "move clone"
        assert ("held_out_cross_entropy" if clone else "return") in found.config
    assert agent("trained/hanabi/2p/obl1-1").config["method"] == "OBL-1, analytic belief"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ippo-1", "op-1", "obl1-1", "obl2-1", "proxy-1"])
def test_they_score_what_their_files_say(name):
    game, found = make("hanabi/2p"), agent(f"trained/hanabi/2p/{name}")
    scores = [e.score for e in play(game, [Team.of(game, [found, found])], episodes=60, seed=0)]
    assert np.mean(scores) == pytest.approx(found.config["return"], abs=1.5)


def test_likeliest_moves_go_by_a_name():
    found = agent("greedy:trained/hanabi/2p/proxy-1")
    assert found.name == "greedy:trained/hanabi/2p/proxy-1"
    assert bool(found.policy.greedy)  # type: ignore[union-attr]
    assert not bool(agent("trained/hanabi/2p/proxy-1").policy.greedy)  # type: ignore[union-attr]
    with pytest.raises(InterplayError, match=r"greedy:hanabi/smart: only trained policies sample"):
        agent("greedy:hanabi/smart")
