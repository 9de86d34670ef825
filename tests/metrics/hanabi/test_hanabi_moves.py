"""What was known of the cards used, what was told: by hand, and against the plainest possible count."""

import numpy as np
import pytest

import interplay
from interplay.games.hanabi.state import DISCARD, PLAY
from interplay.traces import replay
from tests.metrics.hanabi.scripted import compiled, episode, recoloured, traces


def values(found, metric, **where):
    return {(r["episode"], r["seat"]): r["value"] for r in found.where(metric=metric, **where)}


def test_by_hand():
    """Ann hints 1, and any 1 fits: Bob discards one all the same. Ann hints 4, which cannot fit: Bob plays one. Ann
    plays a card of which she knows nothing, and Bob his other 1, which still fits whatever it is."""
    game = episode(
        ["R3 Y3 G3 W3 B3", "R1 Y1 G4 W4 B4"],
        ["hint +1 1", "discard 0", "hint +1 4", "play 2", "play 0", "play 0"],
    )
    found = interplay.measure(traces(game), ["hanabi/dominance", "hanabi/behaviour"])
    for known in ("public", "seen"):
        assert values(found, "g1", known=known) == {(0, 0): 0, (0, 1): pytest.approx(1 / 3)}
        assert values(found, "g2", known=known) == {(0, 0): 0, (0, 1): pytest.approx(1 / 3)}
        assert values(found, "g3", known=known) == {(0, 0): 0, (0, 1): pytest.approx(1 / 3)}
    assert values(found, "ipp", known="told") == {(0, 0): 0, (0, 1): pytest.approx((1 + 1) / 2 / 2)}
    assert values(found, "communicativeness") == {(0, 0): pytest.approx(2 / 3), (0, 1): 0}
    assert {r["n"] for r in found.where(metric="ipp", known="told", seat=1)} == {2}


def test_the_other_hand_tells_more():
    """Bob's card is red. That it is no 1 he only knows because he sees all three red 1s in Ann's hand."""
    game = episode(["R1 R1 R1 Y3 G3", "R4 Y4 G4 W4 B4"], ["hint +1 R", "play 0"])
    found = interplay.measure(traces(game), ["hanabi/dominance"])
    assert values(found, "g2", known="public")[0, 1] == 0
    assert values(found, "g2", known="seen")[0, 1] == 1


def test_no_turn_and_no_play_have_no_rate():
    game = episode(["R3 Y3 G3 W3 B3", "R1 Y1 G4 W4 B4"], ["hint +1 1"])
    found = interplay.measure(traces(game), ["hanabi/dominance", "hanabi/behaviour"])
    assert values(found, "g1", known="public") == {(0, 0): 0, (0, 1): None}
    assert values(found, "ipp", known="told") == {(0, 0): None, (0, 1): None}
    assert values(found, "communicativeness") == {(0, 0): 1, (0, 1): None}


def slow(game, found):
    """Counts of one game, card by card."""
    rules, again = game.rules, replay(game, found)
    counts = {}
    for t in range(found.length):
        state, seat = again.state(t), t % rules.players
        action = int(found.actions[t, seat])
        kind, slot = int(rules.moves.kind[action]), int(rules.moves.slot[action])
        mine = counts.setdefault(
            seat, dict.fromkeys(("turns", "g1", "g2", "g3", "s1", "s2", "s3", "plays", "told", "hints", "able"), 0)
        )
        mine["turns"] += 1
        if int(state.tokens) > 0:
            mine["able"] += 1
            mine["hints"] += kind not in (PLAY, DISCARD)
        if kind not in (PLAY, DISCARD):
            continue
        if kind == PLAY:
            mine["plays"] += 1
            mine["told"] += int(state.told_colours[seat, slot] > 0) + int(state.told_ranks[seat, slot] > 0)
        for sense in "gs":
            verdicts = []
            for card in range(rules.identities):
                suit, rank = divmod(card, rules.ranks)
                if not (int(state.possible[seat, slot]) >> card) & 1:
                    continue
                out = int(state.discards[card]) + (int(state.fireworks[suit]) > rank)
                if sense == "s":
                    others = [h for s, h in enumerate(np.asarray(state.hands)) if s != seat]
                    out += sum(int((h == card).sum()) for h in others)
                if out < rules.copies[rank]:
                    verdicts.append(int(state.fireworks[suit]) == rank)
            assert verdicts, "a card is something"
            mine[f"{sense}1"] += kind == DISCARD and all(verdicts)
            mine[f"{sense}2"] += kind == PLAY and not any(verdicts)
            mine[f"{sense}3"] += kind == PLAY and all(verdicts)
    return counts


def test_against_a_plain_count():
    game = compiled()[0]
    games = interplay.play(game, ["random", "hanabi/simple"], episodes=5, seed=11)
    found = interplay.measure(games, ["hanabi/dominance", "hanabi/behaviour"])
    for number, one in games.items():
        for seat, counts in slow(game, one).items():
            for sense, known in (("g", "public"), ("s", "seen")):
                for k in "123":
                    expected = counts[sense + k] / counts["turns"]
                    assert values(found, f"g{k}", known=known)[number, seat] == pytest.approx(expected)
            ipp = counts["told"] / 2 / counts["plays"] if counts["plays"] else None
            assert values(found, "ipp", known="told")[number, seat] == (ipp if ipp is None else pytest.approx(ipp))
            expected = counts["hints"] / counts["able"]
            assert values(found, "communicativeness")[number, seat] == pytest.approx(expected)


def test_colours_are_all_alike():
    games = interplay.play(compiled()[0], ["random", "hanabi/simple"], episodes=4, seed=5)
    other = traces(*(recoloured(e, "BGRWY") for e in games))
    metrics = ["hanabi/dominance", "hanabi/behaviour"]
    assert interplay.measure(games, metrics).column("value") == interplay.measure(other, metrics).column("value")


def test_other_games_are_refused():
    kitchen = interplay.play("overcooked/cramped_room", ["random", "random"], episodes=1, seed=0)
    with pytest.raises(interplay.InterplayError, match="is of Hanabi"):
        interplay.measure(kitchen, ["hanabi/dominance"])
