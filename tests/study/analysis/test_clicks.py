"""Presses joined to a partner's moves, in games written out by hand."""

import pytest

from interplay.study.analysis.analysis_list import Clicks
from interplay.study.analysis.button_presses import click, partner_moves
from interplay.study.analysis.data import gather
from interplay.study.analysis.measures import Measured
from interplay.study.protocol.reading import parse
from tests.metrics.hanabi.scripted import episode
from tests.study.analysis.synthetic import Truth, synthetic
from tests.study.texts import game, repeat, study

FLAGS = "[{id: odd, label: Odd}, {id: other, label: Other}]"
STUDY = study(
    "cards",
    repeat("rounds", game("round", "cards", "bob", practice="first", flags=FLAGS), times=2),
    games="{cards: {game: hanabi/2p, options: {bomb: keep}}}",
    partners="{bob: random}",
)
# Bob (seat 1) discards a card known to be playable (t=1), plays one known to be unplayable (t=3), hints (t=5) and plays
# a card that fits (t=7).
MOVES = ["hint +1 1", "discard 0", "hint +1 4", "play 2", "hint +1 1", "hint +1 3", "play 0", "play 0"]


@pytest.fixture(scope="module")
def data():
    game = episode(["R3 Y3 G3 W3 B3", "R1 Y1 G4 W4 B4"], MOVES)

    def presses(row, rng):
        who = int(row["participant"][1:])
        if row["practice"]:
            return [("odd", 2)]
        if who == 0:  # before Bob moved; after his discard, seen before and after the answer; after his play, twice
            return [("odd", 1), ("odd", 2), ("odd", 4), ("odd", 5), ("other", 4)]
        return [("odd", 3), ("odd", 6), ("odd", 8)] if who == 1 else []

    records = synthetic(parse(STUDY), 4, Truth({}), episodes=lambda row, number: game, flags=presses)
    return gather(records)


def test_a_press_is_joined_to_the_partners_last_move_that_was_seen(data):
    games = [game for game in data.games if not game["practice"]]
    moves, lost = partner_moves(data, games, "odd")
    assert [(press["person"], press["seen"]) for press in lost] == [("p0000", 1)]
    told = {who: [row["presses"] for row in moves if row["person"] == who] for who in ("p0000", "p0001", "p0002")}
    assert told == {"p0000": [1, 2, 0, 0], "p0001": [1, 0, 1, 1], "p0002": [0, 0, 0, 0]}
    mine = moves[:4]
    assert [row["kind"] for row in mine] == ["discard", "play", "hint", "play"]
    assert [row["g1_public"] for row in mine] == [True, False, False, False]
    assert [row["g2_public"] for row in mine] == [False, True, False, False]


def test_shares_of_presses_after_discards_and_plays(data):
    found = click(data, Clicks(kind="clicks", id="c", flag="odd"))
    shares = {row["after"]: row for row in found.tables["clicks"] if row["known"] in ("public", None)}
    assert (shares["discard"]["clicked_moves"], shares["discard"]["presses"]) == (2, 2)
    assert shares["discard"]["share"] == 1
    assert shares["discard"]["share_low"] < 1
    assert (shares["play"]["clicked_moves"], shares["play"]["presses"]) == (2, 3)  # twice after one play
    assert shares["play"]["share"] == 0.5  # one of the two plays was G2
    assert shares["play"]["among_all_moves"] == 0.5
    assert shares["hint"]["clicked_moves"] == 1
    pressed = {(row["move"], row["dominated"]): row for row in found.tables["pressed"]}
    assert pressed["discard", "g1"]["pressed"] == pytest.approx(2 / 4)
    assert pressed["play", "g2"]["pressed"] == pytest.approx(1 / 4)
    assert (pressed["hint", "no"]["moves"], pressed["discard", "no"]["moves"]) == (4, 0)
    partner = found.tables["by_partner"].rows[0]
    assert (partner["partner"], partner["moves"], partner["presses"], partner["g1_moves"]) == ("bob", 16, 6, 4)
    assert any("first move" in note and note.endswith("1") for note in found.notes)
    assert any("practice" in note and note.endswith("4") for note in found.notes)


def test_practice_games_on_request(data):
    two = data.of_people(["p0000", "p0001"])  # as many games as above, so that nothing is compiled anew
    found = click(two, Clicks(kind="clicks", id="c", flag="odd", practice=True))
    row = found.tables["clicks"].where(after="discard", known="public").rows[0]
    assert row["clicked_moves"] == 4
    assert not any("practice" in note for note in found.notes)


def test_measures_of_games_are_of_the_partners_moves(data):
    values = Measured(data).games(["score", "g1", "g2", "g3", "communicativeness"])
    assert len(values) == 4
    for row in values.values():
        assert (row["g1"], row["g2"], row["g3"]) == (0.25, 0.25, 0.25)
        assert row["communicativeness"] == 0.25
