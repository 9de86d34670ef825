"""Each rule of the conventions on a hand that shows it, and what must hold of all games."""

import numpy as np
import pytest

import interplay
from interplay.metrics.hanabi.hgroup_move_verdicts import BREAKS, FOLLOWS, RULES
from tests.metrics.hanabi.scripted import episode, recoloured, traces

PLAIN = "R3 Y3 G3 W4 B4"  # nothing here is playable or to be saved


def rules_of(hands, moves, **more):
    people = [interplay.agents.api.Identity(n, n, False) for n in "abcde"[: len(hands)]]
    found = interplay.measure(traces(episode(hands, moves, people, **more)), ["hanabi/conventions"], detail=True)
    return found.column("rule")


CASES = {
    "a play clue on the chop and its answer": (
        [PLAIN, "R1 Y4 G4 W3 B3"],
        ["hint +1 R", "play 0"],
        ["play_clue", "answered_play_clue"],
    ),
    "a play clue that is not answered": (
        [PLAIN, "R1 Y4 G4 W3 B3"],
        ["hint +1 R", "discard 1"],
        ["play_clue", "unplayed_play_clue"],
    ),
    "a 5 is saved by its rank": ([PLAIN, "R5 Y4 G4 W3 B3"], ["hint +1 5", "discard 1"], ["five_save", "chop_discard"]),
    "and not by its colour": ([PLAIN, "R5 Y4 G4 W3 B3"], ["hint +1 R"], ["wrong_save"]),
    "nor does one discard what is saved": (
        [PLAIN, "R5 Y4 G4 W3 B3"],
        ["hint +1 5", "discard 0"],
        ["five_save", "wrong_discard"],
    ),
    "a 2 is saved by its rank": ([PLAIN, "R2 Y4 G4 W3 B3"], ["hint +1 2"], ["two_save"]),
    "but not with a second copy, which doubles it": ([PLAIN, "R2 Y4 G4 W3 R2"], ["hint +1 2"], ["bad_touch"]),
    "a 2 on the next chop is not to be forgotten": (
        ["R2 Y3 G3 W4 B4", "R5 Y4 G4 W3 B3"],
        ["hint +1 5", "hint +1 3", "hint +1 4", "discard 3"],
        ["five_save", "wrong_play_clue", "wrong_save", "missed_two_save"],
    ),
    "which is safe while all hint tokens are there": (
        ["R2 Y3 G3 W4 B4", "R5 Y4 G4 W3 B3"],
        ["hint +1 5", "discard 1"],
        ["five_save", "chop_discard"],
    ),
    "nor is a 5, even for a card that could be played": (
        ["R5 Y3 G3 W4 B4", "R1 Y4 G4 W3 B3"],
        ["hint +1 R", "play 0"],
        ["play_clue", "missed_five_save"],
    ),
    "the focus is on the newest of the new cards": (
        [PLAIN, "Y4 G4 R4 W3 R1"],
        ["hint +1 R", "play 4"],
        ["play_clue", "answered_play_clue"],
    ),
    "and not on the others": ([PLAIN, "Y4 G4 R4 W3 R1"], ["hint +1 R", "play 2"], ["play_clue", "wrong_focus_read"]),
    "unless one of them is the chop": ([PLAIN, "R4 G4 Y4 W3 R1"], ["hint +1 R"], ["wrong_chop_focus"]),
    "a card that does not fit": ([PLAIN, "Y4 R4 G4 W3 B3"], ["hint +1 R"], ["wrong_play_clue"]),
    "5s off the chop are a stall": ([PLAIN, "Y4 R5 G4 W3 B3"], ["hint +1 5"], ["five_stall"]),
    "until a chop card has gone": (
        [PLAIN, "Y4 W3 B3 G5 G4"],
        ["hint +1 4", "discard 1", "hint +1 5"],
        ["wrong_save", "chop_discard", "wrong_play_clue"],
    ),
    "a play out of the blue": ([PLAIN, "R5 Y4 G4 W3 B3"], ["play 0"], ["unfounded_play"]),
    "two equal 1s: one is played, the other is fixed": (
        [PLAIN, "R1 Y4 G4 W3 R1"],
        ["hint +1 1", "play 0", "hint +1 R", "discard 3"],
        ["bad_touch", "answered_play_clue", "fix_clue", "known_trash"],
    ),
    "a dead card is not to be touched": (
        [PLAIN, "R1 Y4 G4 W3 R1"],
        ["hint +1 W", "play 0", "hint +1 R"],
        ["wrong_play_clue", "unfounded_play", "bad_touch"],
    ),
    "a saved 2 is filled in once it fits": (
        ["R1 Y3 G3 W4 B4", "R2 Y4 G4 W3 B3"],
        ["hint +1 2", "hint +1 R", "play 0", "discard 1", "hint +1 R", "play 0"],
        ["two_save", "play_clue", "answered_play_clue", "chop_discard", "fill_in", "answered_play_clue"],
    ),
    "a hint once more says nothing": (
        [PLAIN, "R4 Y4 G4 W4 B4"],
        ["hint +1 4", "hint +1 3", "hint +1 4"],
        ["wrong_save", "wrong_save", "low_value"],
    ),
    "but with all hint tokens there it is a stall": (
        [PLAIN, "R4 Y4 G4 W4 B4"],
        ["hint +1 4", "discard 0", "hint +1 4"],
        ["wrong_save", "locked_discard", "stall"],
    ),
    "and with all own cards clued": (
        ["R3 Y3 G3 W3 B3", "R4 Y4 G4 W4 B4"],
        ["hint +1 4", "hint +1 3", "hint +1 4"],
        ["wrong_save", "wrong_save", "stall"],
    ),
    "the last copy is saved by colour as well": (
        ["R4 Y3 G3 W3 B3", "R4 W5 G4 Y4 B4"],
        ["hint +1 5", "hint +1 3", "discard 0", "hint +1 Y", "hint +1 R"],
        ["five_stall", "wrong_play_clue", "chop_discard", "low_value", "critical_save"],
    ),
    "a delayed play clue": (
        ["Y1 R3 G3 W4 B4", "R4 Y2 G4 W3 B3"],
        ["hint +1 4", "hint +1 Y", "hint +1 Y"],
        ["wrong_save", "play_clue", "play_clue"],
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c)
def test_two_players(case):
    hands, moves, expected = CASES[case]
    assert rules_of(hands, moves) == expected


FINESSE = ["Y3 G3 W3 B3 Y4", "Y3 G4 W4 B4 R1", "G3 R2 W3 B3 Y4"]


def test_a_finesse_is_played_at_once():
    assert rules_of(FINESSE, ["hint +2 R", "play 4", "play 1"]) == ["finesse", "answered_at_once", "answered_play_clue"]
    assert rules_of(FINESSE, ["hint +2 R", "hint +1 3"])[1] == "unanswered_at_once"


def test_a_prompt_goes_before_a_finesse():
    """A red 1 is missing. Who has a clued card that may be it would play that one, and not the newest."""
    hands = ["Y3 G3 W3 B3 Y4", "G4 R4 W4 B4 Y3", "G3 R2 W3 B3 Y4"]
    by_rank = ["hint +1 4", "discard 4", "hint +1 3", "hint +2 R"]
    assert rules_of(hands, by_rank, draws="R1")[3] == "finesse"
    by_colour = ["hint +1 R", "discard 0", "hint +1 3", "hint +2 R"]
    assert rules_of(hands, by_colour, draws="R1")[3] == "wrong_play_clue"


def test_a_prompt():
    """The 2 that was saved may be any 2; a clue on the red 3 says that it is the red one."""
    hands = ["Y3 G3 W3 B3 Y4", "R2 G4 W4 B4 G3", "G4 R3 R1 W4 Y4"]
    moves = ["hint +1 2", "hint +1 1", "play 2", "hint +2 R", "play 0", "play 1"]
    expected = ["two_save", "play_clue", "answered_play_clue", "prompt", "answered_at_once", "answered_play_clue"]
    assert rules_of(hands, moves) == expected


def test_every_move_has_one_rule_and_rates_add_up():
    games = interplay.play("hanabi/3p", ["random", "hanabi/simple", "random"], episodes=6, seed=3)
    detail = interplay.measure(games, ["hanabi/conventions"], detail=True)
    assert len(detail) == sum(e.length for e in games)
    assert set(detail.column("rule")) <= set(RULES)
    assert not set(FOLLOWS) & set(BREAKS)
    rates = interplay.measure(games, ["hanabi/conventions"])
    for (number, seat), part in rates.groups("episode", "seat").items():
        mine = [r for r in detail if (r["episode"], r["seat"]) == (number, seat)]
        assert part.where(metric="adherence").rows[0]["value"] == pytest.approx(np.mean([r["value"] for r in mine]))
        assert sum(part.where(metric="rule").column("value")) == len(mine)


def test_colours_are_all_alike():
    games = interplay.play("hanabi/2p", ["random", "hanabi/simple"], episodes=4, seed=5)
    other = traces(*(recoloured(e, "GBRYW") for e in games))
    same = ["rule", "slot", "follows", "t"]
    before, after = (interplay.measure(t, ["hanabi/conventions"], detail=True) for t in (games, other))
    assert [[r[c] for c in same] for r in before] == [[r[c] for c in same] for r in after]
