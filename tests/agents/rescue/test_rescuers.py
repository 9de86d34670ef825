"""Scripted rescuers do their role's work, and helping shows in the count."""

import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.rescue.paths import FAR, distances
from interplay.errors import InterplayError
from interplay.metrics.interdependence import count
from interplay.rollout.engine import run
from interplay.rollout.teams import Team
from interplay.symbolic.read import symbolic_trace


def team(game, *agents, episodes=6):
    """Scores and counts of a team's episodes."""
    played = list(run(game, [Team.of(game, agents)], episodes=episodes, seed=0))
    return [e.score for e in played], [count(symbolic_trace(game, e)) for e in played]


@pytest.fixture(scope="module")
def rubble():
    return interplay.make("rescue/rubble")


def test_a_team_of_helpers_rescues_everybody(rubble):
    scores, found = team(rubble, "rescue/helper", "rescue/helper")
    assert scores == [20.0] * 6
    assert all(f.number("constructive") > 0 for f in found)
    assert all(f.matrix()[1][0] > 0 for f in found)


def test_behind_rubble_a_nurse_can_do_nothing_alone(rubble):
    scores, found = team(rubble, "rescue/nurse", "stay")
    assert scores == [0.0] * 6
    assert all(f.number("constructive") == 0 for f in found)


@pytest.mark.slow
def test_helpers_help_more_than_loners():
    game = interplay.make("rescue/hallway")
    scores, helping = team(game, *["rescue/helper"] * 3)
    _, alone = team(game, *["rescue/loner"] * 3)
    assert np.mean(scores) >= 29.0
    assert sum(f.number("constructive") for f in helping) > sum(f.number("constructive") for f in alone)


def test_rescuers_see_only_what_their_seat_knows_and_play_only_rescue(rubble):
    assert not Team.of(rubble, ["rescue/helper", "rescue/loner"]).identities[0].privileged
    kitchen = interplay.make("overcooked/cramped_room")
    with pytest.raises(InterplayError, match="plays rescue"):
        Team.of(kitchen, ["rescue/helper", "rescue/helper"])
    with pytest.raises(InterplayError, match="takes no options"):
        interplay.agent("rescue/helper", speed=2)
    with pytest.raises(InterplayError, match="did you mean"):
        interplay.agent("rescue/nurs")


def test_distances_go_around_what_blocks():
    """A corridor of five cells in a ring of walls, cut in the middle."""
    front = jnp.array([[c, c, max(c - 1, 0), min(c + 1, 4)] for c in range(5)])
    sources = jnp.array([[True, False, False, False, False]])
    assert distances(sources, jnp.ones(5, bool), front).tolist() == [[0, 1, 2, 3, 4]]
    cut = jnp.array([True, True, False, True, True])
    assert distances(sources, cut, front).tolist() == [[0, 1, FAR, FAR, FAR]]
