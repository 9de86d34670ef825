"""Scripted attackers: what tells them apart, and where they can play."""

import numpy as np
import pytest

import interplay
from interplay.agents.registry import agent
from interplay.errors import InterplayError, UnknownName

GAME = interplay.make("football/keepaway")


@pytest.fixture(scope="module")
def counts():
    """Mean counts of each event, by team."""
    from interplay.agents.football.registry import PLAYERS
    from interplay.partners.evaluate import PolicyStack, play_pairs

    names = list(PLAYERS)
    stack = PolicyStack.of_agents(GAME, [agent(f"football/{n}") for n in names])
    played = play_pairs(GAME, stack, stack, [(i, i) for i in range(len(names))], episodes=50, seed=0)
    events = played.events[:, 0].sum(axis=1)  # of all seats
    return {n: dict(zip(GAME.event_names, events[i], strict=True)) for i, n in enumerate(names)}


def test_who_passes_passes_and_who_shoots_shoots(counts):
    assert counts["shooter"]["pass"] == 0
    assert counts["shooter"]["shot"] > 0.5
    assert min(counts["passer"]["pass"], counts["positioner"]["pass"]) > 1
    assert counts["passer"]["catch"] > counts["shooter"]["catch"]


def test_other_names_options_and_games_are_refused():
    with pytest.raises(UnknownName, match="football/goalie"):
        agent("football/goalie")
    with pytest.raises(InterplayError, match="takes no options"):
        agent("football/passer", speed=2)
    with pytest.raises(InterplayError, match="plays football"):
        agent("football/passer").policy.bind(interplay.make("rescue/hallway"))


def test_passes_before_a_goal_are_constructive():
    """Hand-made episode: centre to top wing, back to the centre nearer to the goal, and a goal."""
    from interplay.games.football.pitch import NOBODY, OURS
    from interplay.games.football.symbolic_domain import FootballReader
    from interplay.metrics.interdependence.count import count

    class Pitches:
        owner_team = np.array([OURS, NOBODY, OURS, NOBODY, OURS, NOBODY])
        owner_player = np.array([1, NOBODY, 3, NOBODY, 1, NOBODY])
        ball = np.array([[0.6, 0, 0], [0.65, -0.1, 0], [0.7, -0.2, 0], [0.8, -0.1, 0], [0.85, 0, 0], [1.01, 0, 0]])
        score = np.array([[0, 0]] * 5 + [[1, 0]])

    class States:
        pitch = Pitches

    counted = count(FootballReader(GAME).read(States, np.zeros((5, 3), int)))
    assert [(k.giver, k.receiver, k.kind) for k in counted.links] == [(0, 2, "constructive"), (2, 0, "constructive")]
    Pitches.ball = Pitches.ball.copy()
    Pitches.ball[:, 0], Pitches.ball[:, 1] = 0.6, 0.0  # it came back no nearer, and nobody scored
    Pitches.score = np.zeros((6, 2), int)
    counted = count(FootballReader(GAME).read(States, np.zeros((5, 3), int)))
    assert {k.kind for k in counted.links} <= {"looping", "irrelevant"}
    assert any(k.kind == "looping" for k in counted.links)
