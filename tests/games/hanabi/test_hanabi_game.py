"""What the game promises beside its rules: decks, errors, variants, views, pictures."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.errors import IllegalAction, InterplayError
from interplay.games.api import JaxGame
from interplay.games.hanabi.state import HIDDEN, HanabiRules

KEY = jax.random.key(0)


def sorted_pairs(game) -> np.ndarray:
    deck = game.rules.sorted_deck
    return np.stack([deck // game.rules.ranks, deck % game.rules.ranks], axis=1)


def play(game, state, *actions: str):
    """The game after these moves, by name."""
    for name in actions:
        joint = np.full(game.num_seats, game.rules.moves.noop)
        joint[int(state.time) % game.num_seats] = game.action_names.index(name)
        state, _ = game.checked_step(state, joint)
    return state


@pytest.fixture(scope="module")
def game():
    return interplay.make("hanabi/2p")


def test_a_game_is_made_by_name_and_keeps_the_contract():
    for players, actions in ((2, 21), (3, 31), (4, 39), (5, 49)):
        game = interplay.make(f"hanabi/{players}p")
        assert isinstance(game, JaxGame)
        assert len(game.action_names) == actions
        assert game.num_seats == players
        assert interplay.make(game.id, **game.options).rules == game.rules


def test_a_given_deck_is_dealt_top_card_first(game):
    deck = sorted_pairs(game)[::-1].copy()
    state = game.init(KEY, deck=deck)
    np.testing.assert_array_equal(state.hands[0], deck[:5] @ [5, 1])
    np.testing.assert_array_equal(state.hands[1], deck[5:10] @ [5, 1])
    np.testing.assert_array_equal(game.start(state)["deck"], deck)
    compiled = jax.jit(lambda d: game.init(KEY, deck=d))(deck)
    np.testing.assert_array_equal(compiled.deck, state.deck)


@pytest.mark.parametrize("players", [2, 3])
def test_one_seats_view_is_that_of_all_seats(players):
    game = interplay.make(f"hanabi/{players}p")
    one = jax.jit(game.observe_as, static_argnums=1)
    state, generator = game.init(KEY), np.random.default_rng(0)
    for _ in range(12):
        for encoding in ("hle", "belief"):
            everyone = game.observe(state, encoding)
            for seat in range(players):
                np.testing.assert_array_equal(one(state, encoding, jnp.int32(seat)), everyone[seat])
        seat = int(state.time) % players
        actions = np.full(players, game.rules.moves.noop)
        actions[seat] = generator.choice(np.flatnonzero(np.asarray(game.legal(state))[seat]))
        state, _ = game.step(state, jnp.asarray(actions))
    assert int(game.observe_as(state, "seen", jnp.int32(1)).seat) == 1


def test_start_gives_the_same_state_under_any_key(game):
    state = game.init(KEY)
    again = game.init(jax.random.key(99), **game.start(state))
    jax.tree.map(np.testing.assert_array_equal, state, again)


def test_shuffles_are_whole_decks_and_fair(game):
    decks = np.asarray(jax.vmap(lambda k: game.init(k).deck)(jax.random.split(KEY, 4000)))
    np.testing.assert_array_equal(np.sort(decks, axis=1), np.tile(game.rules.sorted_deck, (4000, 1)))
    # Each identity is equally likely at every place: the largest of 1,250 z-scores stays below 5.
    share = np.stack([(decks == i).mean(axis=0) for i in range(25)])
    expected = game.rules.total_copies[:, None] / 50
    assert np.max(np.abs(share - expected) / np.sqrt(expected * (1 - expected) / 4000)) < 5


def test_wrong_decks_are_explained(game):
    good = sorted_pairs(game)
    with pytest.raises(InterplayError, match="has 51 cards; the rule set has 50"):
        game.init(KEY, deck=np.concatenate([good, good[:1]]))
    bad = good.copy()
    bad[3] = [0, 0]
    with pytest.raises(InterplayError, match="4 copies of R1 instead of 3, 1 copies of R2 instead of 2"):
        game.init(KEY, deck=bad)
    bad[3] = [5, 0]
    with pytest.raises(InterplayError, match=r"card 3 of this deck is \(5, 0\)"):
        game.init(KEY, deck=bad)
    with pytest.raises(InterplayError, match=r"integer array \[50, 2\]"):
        game.init(KEY, deck=good.astype(float))


def test_illegal_actions_say_which_why_and_what_was_legal(game):
    state = game.init(KEY, deck=sorted_pairs(game))  # seat 0: R1 R1 R1 R2 R2; seat 1: R3 R3 R4 R4 R5
    noop = game.rules.moves.noop
    with pytest.raises(IllegalAction, match=r"seat 0: discard 2 \(2\) is not legal: all 8 hint .* legal: play 0"):
        game.checked_step(state, [2, noop])
    with pytest.raises(IllegalAction, match="it names no card of seat 1"):
        game.checked_step(state, [game.action_names.index("hint +1 B"), noop])
    with pytest.raises(IllegalAction, match=r"seat 1: play 0 .* it is seat 0's turn"):
        game.checked_step(state, [5, 5])
    with pytest.raises(IllegalAction, match="a turn cannot be passed"):
        game.checked_step(state, [noop, noop])
    with pytest.raises(IllegalAction, match="no action 21"):
        game.checked_step(state, [21, noop])
    after = play(game, state, *["hint +1 R", "hint +1 R"] * 4)
    with pytest.raises(IllegalAction, match="no hint token is left"):
        game.checked_step(after, [game.action_names.index("hint +1 R"), noop])


def test_points_are_lost_with_the_third_life_or_kept():
    for bomb, last in (("zero", -1), ("keep", 0)):
        game = interplay.make("hanabi/2p", bomb=bomb)
        state = game.init(KEY, deck=sorted_pairs(game))
        state = play(game, state, "play 0", "play 4", "play 0")
        joint = np.array([game.rules.moves.noop, game.action_names.index("play 3")])
        state, step = game.checked_step(state, joint)
        assert bool(step.terminated)
        assert float(step.reward.sum()) == last
        assert int(game.score(state)) == 1 + last
        with pytest.raises(InterplayError, match="over after 4 moves"):
            game.checked_step(state, joint[::-1])


def test_events_are_counted_for_the_seat_that_moved(game):
    state = game.init(KEY, deck=sorted_pairs(game))
    joint = np.array([game.action_names.index("play 0"), game.rules.moves.noop])
    _, step = game.checked_step(state, joint)
    expected = np.zeros((2, len(game.event_names)), int)
    expected[0, game.event_names.index("played")] = 1
    np.testing.assert_array_equal(step.events, expected)


def test_rainbow_cards_are_touched_by_every_colour_and_named_by_none():
    game = interplay.make("hanabi/2p-rainbow")
    assert len(game.action_names) == 21
    assert game.rules.max_score == 30
    deck = sorted_pairs(game)
    first = [0, 1, 2, 3, 4, 50, 53, 10, 20, 30]
    deck = np.concatenate([deck[first], np.delete(deck, first, axis=0)])
    state = game.init(KEY, deck=deck)  # seat 1: M1 M2 Y1 G1 W1
    state = play(game, state, "hint +1 Y")
    np.testing.assert_array_equal(state.last.touched, [1, 1, 1, 0, 0])
    rows = game.render(state).splitlines()[-1]
    assert "M1:YM|any" in rows
    assert "G1:RGWB|any" in rows
    state = play(game, state, "hint +1 1", "hint +1 R")
    assert "M1:M|any" in game.render(state), "two colours together can only be rainbow"
    assert game.observe(state, "hle").shape == (2, *game.encodings["hle"].shape)
    assert game.observe(state, "belief").shape == (2, *game.encodings["belief"].shape)


def test_impossible_rule_sets_are_refused():
    with pytest.raises(InterplayError, match="2 to 5 players"):
        HanabiRules(players=6, hand_size=4)
    with pytest.raises(InterplayError, match=r"'zero' .* or 'keep'"):
        interplay.make("hanabi/2p", bomb="loud")
    with pytest.raises(InterplayError, match="unknown option 'life'; did you mean lives"):
        interplay.make("hanabi/2p", life=3)
    with pytest.raises(InterplayError, match="hanabi/2p"):
        interplay.make("hanabi/6p")


def test_discarding_when_full_can_be_allowed():
    game = interplay.make("hanabi/2p", discard_when_full=True)
    state = play(game, game.init(KEY), "discard 0")
    assert int(state.tokens) == 8


def test_a_seat_sees_no_card_of_its_own(game):
    """Changing what a seat cannot know changes nothing that it sees."""
    state = game.init(KEY)
    state = play(game, state, "hint +1 " + str(int(state.hands[1, 0]) % 5 + 1))
    deck = np.asarray(state.deck).copy()
    hands = np.asarray(state.hands).copy()
    hands[0, 4], deck[30] = deck[30], hands[0, 4]
    other = jax.tree.map(lambda x: x, state)
    object.__setattr__(other, "hands", jnp.asarray(hands))
    object.__setattr__(other, "deck", jnp.asarray(deck))
    for name, encoding in game.encodings.items():
        mine, theirs = (jax.tree.map(lambda x: x[0], game.observe(s, name)) for s in (state, other))
        same = all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs)))
        assert same != encoding.privileged, name
    assert np.all(np.asarray(game.observe(state, "seen").hands)[0, 0] == HIDDEN)
    assert game.render(state, seat=0) == game.render(other, seat=0)
    assert game.scene(state, seat=0).svg() == game.scene(other, seat=0).svg()
    assert game.render(state) != game.render(other)
    assert game.scene(state).svg() != game.scene(other).svg()


def test_the_text_shows_what_each_seat_knows(game):
    state = game.init(KEY, deck=sorted_pairs(game))
    state = play(game, state, "play 0", "hint +1 2", "hint +1 5", "play 0")
    assert game.render(state, seat=1) == (
        "turn 4, seat 0 to move; points 1, hint tokens 6, lives 2, deck 38\n"
        "fireworks R1 Y0 G0 W0 B0\n"
        "discards  R3\n"
        "last move seat 1: play 0, R3: a life is lost\n"
        "seat 0 *       R1:any|1345  R1:any|1345  R2:any|2  R2:any|2  Y1:any|1345\n"
        "seat 1 (you)   ??:any|1234  ??:any|1234  ??:any|1234  ??:any|5  ??:any"
    )
