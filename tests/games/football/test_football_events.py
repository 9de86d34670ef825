"""Events against episodes that are labelled by hand: who has the ball, what is chosen, and what must be counted."""

import numpy as np
import pytest

from interplay.games.football import events
from interplay.games.football.pitch import LONG_PASS, NOBODY, OURS, SHORT_PASS, SHOT, THEIRS, Pitch

IDLE = 0
NONE = (NOBODY, NOBODY)
CENTRE, BOTTOM, TOP = (OURS, 1), (OURS, 2), (OURS, 3)
OWN_KEEPER, THEIR_KEEPER, DEFENDER = (OURS, 0), (THEIRS, 0), (THEIRS, 1)


def pitch(owner, goals=0, ball=(0.6, 0.0, 0.1)):
    places = np.zeros((4, 2), np.float32)
    return Pitch(
        time=np.int32(0),
        left=places,
        left_direction=places,
        right=places[:2],
        right_direction=places[:2],
        ball=np.array(ball, np.float32),
        ball_direction=np.zeros(3, np.float32),
        owner_team=np.int32(owner[0]),
        owner_player=np.int32(owner[1]),
        sticky=np.zeros((3, 10), np.int32),
        mode=np.int32(0),
        score=np.array([goals, 0], np.int32),
    )


def recorded(owners, chosen):
    """Owners and choices of every step, from runs: (owner, states) and (seat, action, first step, last step)."""
    by_state = [owner for owner, states in owners for _ in range(states)]
    by_step = [(0, IDLE)] * (len(by_state) - 1)
    for seat, action, first, last in chosen:
        by_step[first : last + 1] = [(seat, action)] * (last + 1 - first)
    return by_state, by_step


# (what is labelled, owners from step to step, (seat, action) of each step, goals of the last step, expected counts)
EPISODES = [
    (
        "the centre passes to the bottom wing, who shoots and scores: an assist of the centre",
        [CENTRE, NONE, BOTTOM, NONE, NONE],
        [(0, SHORT_PASS), (0, IDLE), (1, SHOT), (1, IDLE)],
        1,
        {("possession", 0): 1, ("pass", 0): 1, ("catch", 1): 1, ("possession", 1): 1, ("shot", 1): 1}
        | {("goal", 1): 1, ("assist", 0): 1},
    ),
    (
        "a one-two: the centre gets it back and scores; the assist is the wing's",
        [CENTRE, NONE, TOP, NONE, CENTRE, NONE],
        [(0, LONG_PASS), (2, IDLE), (2, SHORT_PASS), (0, IDLE), (0, SHOT)],
        1,
        {("possession", 0): 2, ("pass", 0): 1, ("catch", 2): 1, ("possession", 2): 1, ("pass", 2): 1}
        | {("catch", 0): 1, ("shot", 0): 1, ("goal", 0): 1, ("assist", 2): 1},
    ),
    (
        "the centre alone: its own loose ball is no catch, and nobody assists",
        [NONE, CENTRE, NONE, CENTRE, NONE],
        [(0, IDLE), (0, SHOT), (0, IDLE), (0, SHOT)],
        1,
        {("possession", 0): 2, ("shot", 0): 2, ("goal", 0): 1},
    ),
    (
        "a pass chosen by who does not have the ball is none",
        [CENTRE, CENTRE, CENTRE],
        [(1, SHORT_PASS), (2, SHOT)],
        0,
        {("possession", 0): 2},
    ),
    (
        "a ball that the defender had is neither caught from a mate nor assisted",
        [CENTRE, NONE, DEFENDER, NONE, TOP, NONE],
        [(0, SHORT_PASS), (0, IDLE), (0, IDLE), (0, IDLE), (2, SHOT)],
        1,
        {("possession", 0): 1, ("pass", 0): 1, ("possession", 2): 1, ("shot", 2): 1, ("goal", 2): 1},
    ),
    (
        "the own keeper is no seat",
        [OWN_KEEPER, OWN_KEEPER, NONE],
        [(0, SHORT_PASS), (0, SHOT)],
        0,
        {},
    ),
    # Recorded in the real engine with scripted players, and labelled from its log. It takes steps from a choice to the
    # kick, in which players choose again.
    (
        "real: the centre passes to the top wing, who runs on, shoots and scores",
        *recorded(
            [(NONE, 3), (CENTRE, 10), (NONE, 7), (TOP, 12), (NONE, 6)], [(0, SHORT_PASS, 4, 12), (2, SHOT, 25, 31)]
        ),
        1,
        {("possession", 0): 10, ("pass", 0): 9, ("catch", 2): 1, ("possession", 2): 12, ("shot", 2): 7}
        | {("goal", 2): 1, ("assist", 0): 1},
    ),
    (
        "real: the same, and for one step the centre chooses something else",
        *recorded(
            [(NONE, 4), (CENTRE, 10), (NONE, 7), (TOP, 15), (NONE, 6)],
            [(0, SHORT_PASS, 5, 11), (0, SHORT_PASS, 13, 13), (2, SHOT, 28, 35)],
        ),
        1,
        {("possession", 0): 10, ("pass", 0): 8, ("catch", 2): 1, ("possession", 2): 15, ("shot", 2): 8}
        | {("goal", 2): 1, ("assist", 0): 1},
    ),
    (
        "real: the centre's pass ends with the defender",
        *recorded(
            [(NONE, 3), (CENTRE, 12), (NONE, 15), (DEFENDER, 1)], [(0, SHORT_PASS, 9, 11), (0, SHORT_PASS, 13, 14)]
        ),
        0,
        {("possession", 0): 12, ("pass", 0): 5},
    ),
    (
        "real: centre, top wing and back to the centre near the goal, whose pass the keeper takes",
        *recorded(
            [(NONE, 2), (CENTRE, 10), (NONE, 8), (TOP, 11), (NONE, 17), (CENTRE, 3), (THEIR_KEEPER, 1)],
            [(0, SHORT_PASS, 3, 11), (2, SHORT_PASS, 21, 30), (0, SHORT_PASS, 49, 50)],
        ),
        0,
        {("possession", 0): 13, ("pass", 0): 11, ("catch", 2): 1, ("possession", 2): 11, ("pass", 2): 10}
        | {("catch", 0): 1},
    ),
]


@pytest.mark.parametrize(
    ("owners", "chosen", "goals", "expected"), [e[1:] for e in EPISODES], ids=[e[0] for e in EPISODES]
)
def test_hand_labelled_episodes(owners, chosen, goals, expected):
    states = [pitch(owner) for owner in owners[:-1]] + [pitch(owners[-1], goals)]
    history, total = events.new_history(states[0], np), np.zeros((3, len(events.EVENTS)), int)
    for before, after, (seat, action) in zip(states[:-1], states[1:], chosen, strict=True):
        actions = np.full(3, IDLE)
        actions[seat] = action
        history, counted, _ = events.record_step(history, before, after, actions, np)
        total += counted
    named = {
        (name, seat): int(total[seat, number])
        for number, name in enumerate(events.EVENTS)
        for seat in range(3)
        if total[seat, number]
    }
    assert named == expected


def test_shaped_help_is_paid_once_and_to_who_has_the_ball():
    far, near = pitch(CENTRE, ball=(0.6, 0, 0)), pitch(BOTTOM, ball=(0.8, 0, 0))
    history = events.new_history(far, np)
    history, _, shaped = events.record_step(history, far, near, np.zeros(3, int), np)
    assert shaped[0] == shaped[2] == 0
    assert shaped[1] == pytest.approx(0.4)
    history, _, shaped = events.record_step(history, near, far, np.zeros(3, int), np)
    _, _, again = events.record_step(history, far, near, np.zeros(3, int), np)
    assert not shaped.any()
    assert not again.any()
