"""What learning in Hanabi stands on: colours by other names, hands that could be held, and moves that are paid."""

from __future__ import annotations

import itertools
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.errors import InterplayError, UnknownName
from interplay.games.hanabi import dominated_moves, suit_permutation
from interplay.games.hanabi.hand_sampling import draw_hand, set_hand, unseen
from interplay.games.registry import make
from interplay.metrics.information import entropy, mutual_information
from interplay.training import information_rewards
from interplay.training.active_seat_game import ActiveSeatGame
from interplay.training.behaviour_rewards import event_recorder_for
from interplay.training.config import Rewards
from interplay.training.team_assignment import TeamPlan
from tests.training.tiny_hanabi import TINY, cards_seen_as


@lru_cache
def tiny(players: int = 2):
    """One game for all tests, so that its rules are compiled once."""
    return make(f"hanabi/{players}p", **TINY)


def played(game, seed: int, moves: int):
    """Decks and random legal moves: states before each, and the action of the seat to move."""
    rng, found = np.random.default_rng(seed), []
    state = game.init(jax.random.key(seed))
    for _ in range(moves):
        seat = int(state.time) % game.num_seats
        action = int(rng.choice(np.flatnonzero(np.asarray(game.legal(state))[seat])))
        found.append((state, seat, action))
        actions = np.full(game.num_seats, len(game.action_names) - 1)
        actions[seat] = action
        state, step = game.step(state, jnp.asarray(actions))
        if bool(step.terminated):
            break
    return found


# --- colours


@pytest.mark.parametrize("game", [tiny(2), tiny(3), make("hanabi/2p-rainbow")], ids=lambda g: f"{g.id}-{g.num_seats}")
def test_play_under_other_names_is_play_of_a_renamed_deck(game):
    """Every seat sees, and may do, what it would in a plain game with the deck and all hints in its own names."""
    rules, everyone = game.rules, suit_permutation.orders(game.rules)
    threes = [i for i, g in enumerate(everyone) if not np.array_equal(g[g], np.arange(len(g)))]  # not their own inverse
    chosen = [threes[0], threes[-1], 0][: game.num_seats]
    own = suit_permutation.OwnColours(game)
    state = own.init(jax.random.key(3))
    state = suit_permutation.Recoloured(plain=state.plain, order=jnp.array(chosen))
    deck = np.asarray(state.plain.deck)
    renamed = [cards_seen_as(rules, everyone[k])[deck] for k in chosen]
    mirrors = [game.init(jax.random.key(0), np.stack([d // rules.ranks, d % rules.ranks], -1)) for d in renamed]
    moves, rng, noop = suit_permutation.real_moves(rules), np.random.default_rng(0), len(game.action_names) - 1
    for _ in range(14):
        seat, legal = int(state.plain.time) % game.num_seats, np.asarray(own.legal(state))
        for encoding in suit_permutation.VECTORS:
            seen = np.asarray(own.observe(state, encoding))
            for k, mirror in enumerate(mirrors):
                np.testing.assert_array_equal(seen[k], np.asarray(game.observe(mirror, encoding))[k])
        for k, mirror in enumerate(mirrors):
            np.testing.assert_array_equal(legal[k], np.asarray(game.legal(mirror))[k])
        options = np.flatnonzero(legal[seat])
        hints = [a for a in options if rules.moves.kind[a] == 2]
        action = int(rng.choice(hints if hints and rng.random() < 0.6 else options))
        real = moves[chosen[seat], action]
        joint = np.full(game.num_seats, noop)
        joint[seat] = action
        state, step = own.step(state, jnp.asarray(joint))
        for k in range(len(mirrors)):
            joint[seat] = int(np.flatnonzero(moves[chosen[k]] == real)[0])
            mirrors[k], theirs = game.step(mirrors[k], jnp.asarray(joint))
            assert float(jnp.sum(step.reward)) == float(jnp.sum(theirs.reward))
        if bool(step.terminated):
            break
    assert any(len(set(moves[:, a])) > 1 for a in range(noop))


def test_orders_are_drawn_for_every_seat_and_game():
    own = suit_permutation.OwnColours(make("hanabi/2p"))
    drawn = jax.jit(jax.vmap(lambda k: own.init(k).order))(jax.random.split(jax.random.key(0), 200))
    assert len(np.unique(drawn[:, 0])) > 60
    assert len(np.unique(drawn[:, 1])) > 60
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.2
    keeps = suit_permutation.OwnColours(make("hanabi/2p"), keep_first=True)
    kept = jax.jit(jax.vmap(lambda k: keeps.init(k).order))(jax.random.split(jax.random.key(0), 9))
    assert not np.any(kept[:, 0])
    assert np.any(kept[:, 1])


def test_only_hanabi_has_colours_and_only_vectors_are_renamed():
    with pytest.raises(InterplayError, match="no colours"):
        suit_permutation.OwnColours(make("overcooked/cramped_room"))
    own = suit_permutation.OwnColours(tiny())
    with pytest.raises(InterplayError, match="not in 'seen'"):
        own.observe(own.init(jax.random.key(0)), "seen")


# --- hands


def exact_belief(game, state, seat: int) -> dict[tuple[int, ...], float]:
    """By listing every way to deal the seat from the physical cards that it does not see."""
    rules = game.rules
    left = np.asarray(unseen(rules, state, jnp.int32(seat)))
    pool = np.repeat(np.arange(rules.identities), left)
    possible = np.asarray(state.possible)[seat]
    slots = [s for s in range(rules.hand_size) if int(state.hands[seat, s]) >= 0]
    counts: dict[tuple[int, ...], float] = {}
    for picked in itertools.permutations(range(len(pool)), len(slots)):
        hand = tuple(int(pool[p]) for p in picked)
        if all((int(possible[s]) >> c) & 1 for s, c in zip(slots, hand, strict=True)):
            counts[hand] = counts.get(hand, 0) + 1
    total = sum(counts.values())
    return {h: c / total for h, c in counts.items()}


def test_hands_are_drawn_as_often_as_they_are_likely():
    game, many = tiny(), 4000
    draw = jax.jit(jax.vmap(lambda s, seat, k: draw_hand(game.rules, s, seat, k, 32), in_axes=(None, None, 0)))
    hinted = 0
    for state, seat, _ in [*played(game, 5, 9)[2:], *played(game, 8, 9)[4:]]:
        exact = exact_belief(game, state, seat)
        hands, sound = draw(state, jnp.int32(seat), jax.random.split(jax.random.key(1), many))
        assert bool(jnp.all(sound))
        cards = [tuple(int(c) for c in h if c >= 0) for h in np.asarray(hands)]
        found = {h: cards.count(h) / many for h in set(cards)}
        assert set(found) <= set(exact)
        assert sum(abs(found.get(h, 0) - p) for h, p in exact.items()) / 2 < 0.05, (found, exact)
        hinted += len(exact) < 15
    assert hinted  # some of these states had hints


def test_another_hand_leaves_the_seat_nothing_to_tell_and_no_card_lost():
    game = tiny()
    rules = game.rules
    change = jax.jit(lambda s, seat, k: set_hand(rules, s, seat, draw_hand(rules, s, seat, k)[0], k))
    for state, _, _ in played(game, 2, 9):
        for seat in (0, 1):
            other = change(state, jnp.int32(seat), jax.random.key(7))
            for encoding in ("hle", "belief"):
                before, after = game.observe(state, encoding)[seat], game.observe(other, encoding)[seat]
                np.testing.assert_array_equal(before, after)

            def everything(s):
                rest = np.asarray(s.deck)[int(s.dealt) :]
                return sorted([*np.asarray(s.hands).ravel().tolist(), *rest.tolist()])

            assert everything(other) == everything(state)
            np.testing.assert_array_equal(other.deck[: int(state.dealt)], state.deck[: int(state.dealt)])


def test_what_is_imagined_knows_nothing_of_the_real_hand_or_deck():
    """Two states that look the same to a seat give the same other hand and deck from the same key."""
    game = tiny()
    rules = game.rules
    state = played(game, 4, 5)[-1][0]
    seat = jnp.int32(1)
    change = jax.jit(lambda s, k: set_hand(rules, s, seat, draw_hand(rules, s, seat, k)[0], k))
    twin = change(state, jax.random.key(11))
    assert not np.array_equal(twin.deck, state.deck)
    for key in jax.random.split(jax.random.key(5), 5):
        one, other = (change(s, key) for s in (state, twin))
        np.testing.assert_array_equal(one.hands, other.hands)
        np.testing.assert_array_equal(one.deck[int(one.dealt) :], other.deck[int(other.dealt) :])


# --- conduct and entropies


def test_dominated_and_dominant_moves_are_paid_to_the_mover():
    game = tiny()
    watch = event_recorder_for(game, Rewards(conduct={"g1": -1.0, "g2": -10.0, "g3": 100.0}))
    by_turns = event_recorder_for(ActiveSeatGame(game), Rewards(conduct={"g1": -1.0, "g2": -10.0, "g3": 100.0}))
    assert watch is not None
    assert by_turns is not None
    deck = np.array([[0, 0], [1, 1], [2, 0], [1, 0], [0, 0], [1, 0], [2, 0], [0, 1], [2, 1]])
    state, names = game.init(jax.random.key(0), deck), list(game.action_names)

    def move(state, name):
        seat = int(state.time) % 2
        joint = np.full(2, len(names) - 1)
        joint[seat] = names.index(name)
        after, _ = game.step(state, jnp.asarray(joint))
        _, paid = watch.record((), state, after, jnp.asarray(joint))
        _, to_mover = by_turns.record((), state, after, jnp.asarray(joint[seat : seat + 1]))
        np.testing.assert_array_equal(to_mover[0], paid[seat])
        paid = paid @ watch.weights
        assert float(paid[1 - seat]) == 0.0
        return after, float(paid[seat])

    state, paid = move(state, "hint +1 1")  # seat 1 holds G1 and Y1: both are ones, so playable whatever they are
    assert paid == 0.0
    _, good = move(state, "play 0")
    assert good == 100.0
    _, bad = move(state, "discard 1")
    assert bad == -1.0
    state, _ = move(state, "hint +1 2")  # seat 0 holds R1 and Y2: slot 1 is a two, and nothing is played
    _, worse = move(state, "play 1")
    assert worse == -10.0
    flags = np.asarray(dominated_moves.flags(game.rules, state, jnp.int32(names.index("play 1"))))
    assert flags[1].all()
    assert not flags[0].any()
    assert not flags[2].any()


def test_what_cannot_be_paid_is_refused():
    with pytest.raises(UnknownName, match="g4"):
        event_recorder_for(tiny(), Rewards(conduct={"g4": 1.0}))
    with pytest.raises(InterplayError, match="for Hanabi"):
        event_recorder_for(make("overcooked/cramped_room"), Rewards(conduct={"g1": -1.0}))
    with pytest.raises(UnknownName, match="entrpy"):
        information_rewards.check(TeamPlan(((0, 0),)), {"entrpy": 1.0})
    with pytest.raises(InterplayError, match="plays with itself"):
        information_rewards.check(TeamPlan(((0, -1),)), {"ic": 1.0})


class FakeRollout:
    def __init__(self, action, turn, start, actions):
        self.action, self.turn, self.start = action, turn, start
        self.logits = jnp.zeros((*action.shape, actions))


def test_entropies_are_those_of_the_metric_and_pay_nothing_on_the_whole():
    rng, steps, envs, n = np.random.default_rng(0), 40, 6, 5
    mover = np.tile((np.arange(steps) % 2)[:, None], (1, envs))
    moved = np.cumsum(rng.integers(0, 2, (steps, envs)), axis=0) % (n - 1)  # answers depend on what was answered
    by_seat = np.full((steps, envs, 2), n - 1)
    np.put_along_axis(by_seat, mover[..., None], moved[..., None], axis=2)
    start = np.zeros((steps, envs), bool)
    start[0], start[17, 2], start[30, 4] = True, True, True
    turn = np.stack([mover == 0, mover == 1], axis=-1)
    flat = lambda x: jnp.asarray(x.reshape(steps, 1, envs * 2))  # noqa: E731
    rollout = FakeRollout(flat(by_seat), flat(turn), jnp.asarray(start), n)
    single, pairs = np.bincount(moved.ravel(), minlength=n), np.zeros((n, n), int)
    for t in range(1, steps):
        for e in range(envs):
            if not start[t, e]:
                pairs[moved[t - 1, e], moved[t, e]] += 1
    truth = {"ad_entropy": entropy(single), "ard_entropy": entropy(pairs.ravel()), "ic": mutual_information(pairs)}
    for name, value in truth.items():
        paid, told = information_rewards.bonus(TeamPlan(((0, 0),)), {name: 2.0}, rollout)
        assert float(told[name]) == pytest.approx(value, abs=1e-4)
        assert float(jnp.mean(paid)) == pytest.approx(0.0, abs=1e-5)
        assert float(jnp.std(paid)) > 0.01
    # A rarer move is paid more.
    paid, _ = information_rewards.bonus(TeamPlan(((0, 0),)), {"ad_entropy": 1.0}, rollout)
    rare = np.argmin(np.where(single > 0, single, 10**6))
    common = np.argmax(single)
    by_env = np.asarray(paid).reshape(steps, envs, 2)[..., 0]
    assert by_env[moved == rare].mean() > by_env[moved == common].mean()
