"""Search on a tiny deck, where hands can be listed and games played out by hand."""

from __future__ import annotations

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents.api import Agent, Info, Policy
from interplay.agents.basic import masked
from interplay.agents.hanabi.sparta import Sparta, _remember, sparta
from interplay.agents.networks import Core, Shape
from interplay.agents.neural import NeuralPolicy
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.hanabi.hand_sampling import unseen
from interplay.games.registry import make
from interplay.rollout.engine import run as play
from interplay.rollout.teams import Team

GAME = make("hanabi/2p", suits="RY", copies=[2, 1], hand_size=2, hint_tokens=2, lives=2)
NAMES = list(GAME.action_names)


class Teller(Policy):
    """Hints rank 1 when the partner's oldest card is a one, rank 2 when it is a two; without tokens it discards."""

    @property
    def encoding(self) -> str:
        return "seen"

    def act(self, memory, obs, legal, key):
        other = obs.hands[1 - obs.seat, 0]
        hint = jnp.where(other % 2 == 0, NAMES.index("hint +1 1"), NAMES.index("hint +1 2"))
        order = jnp.where(jnp.arange(len(NAMES)) == hint, 5.0, -jnp.arange(len(NAMES)) / 100.0)
        logits = masked(order, legal)
        return memory, jnp.argmax(logits), Info(logits)


def moved(state, name: str):
    joint = np.full(2, len(NAMES) - 1)
    joint[int(state.time) % 2] = NAMES.index(name)
    return GAME.step(state, jnp.asarray(joint))[0]


@pytest.fixture(scope="module")
def search():
    """The player in seat 1: its memory, views and beliefs along a game."""
    mind = Sparta(Teller(), rollouts=400).bind(GAME)
    assert isinstance(mind, Sparta)
    act = eqx.filter_jit(lambda m, s, k: mind.act(m, _of(s, 1), GAME.legal(s)[1], k))
    belief = eqx.filter_jit(lambda m, s: mind.belief(m, _of(s, 1), jax.random.key(0)))
    values = eqx.filter_jit(lambda m, s: mind.values(m, _of(s, 1), GAME.legal(s)[1], jax.random.key(1)))
    return mind, act, belief, values


def _of(state, seat: int):
    return jax.tree_util.tree_map(lambda x: x[seat], GAME.observe(state, "seen"))


# Seat 0 holds R1 Y2, seat 1 holds R2 R1; the deck is Y1, Y1.
DECK = np.array([[0, 0], [1, 1], [0, 1], [0, 0], [1, 0], [1, 0]])


def test_the_belief_is_every_hand_that_explains_what_was_done(search):
    mind, act, belief, _ = search
    state = GAME.init(jax.random.key(0), DECK)
    memory = mind.init(jax.random.key(0), jnp.int32(1))
    memory, _, _ = act(memory, state, jax.random.key(0))
    state = moved(state, "hint +1 2")  # as the teller does when the oldest card is a two
    memory, _, _ = act(memory, state, jax.random.key(0))
    hands, weights = belief(memory, state)
    odds = np.exp(np.asarray(weights) - np.max(np.asarray(weights)))
    found = {tuple(map(int, h)): p / odds.sum() for h, p in zip(np.asarray(hands), odds, strict=True) if p > 0}

    left = np.asarray(unseen(GAME.rules, state, jnp.int32(1)))
    pool = np.repeat(np.arange(4), left)
    possible, exact = np.asarray(state.possible)[1], {}
    for picked in itertools.permutations(range(len(pool)), 2):
        hand = tuple(int(pool[p]) for p in picked)
        if all((int(possible[s]) >> c) & 1 for s, c in enumerate(hand)) and hand[0] % 2 == 1:
            exact[hand] = exact.get(hand, 0) + 1
    total = sum(exact.values())
    assert found == pytest.approx({h: c / total for h, c in exact.items()})
    # Without the partner's reasons, a hint of two that touches only the oldest card would leave as much; but a discard,
    # which the teller never makes with a token, is explained by no hand.
    state = moved(moved(GAME.init(jax.random.key(0), DECK), "hint +1 2"), "hint +1 1")
    memory = mind.init(jax.random.key(0), jnp.int32(1))
    past = GAME.init(jax.random.key(0), DECK)
    for name in ("play 0", "discard 0", "play 0"):
        if bool(GAME.legal(past)[int(past.time) % 2, NAMES.index(name)]):
            memory, _, _ = act(memory, past, jax.random.key(0))
            past = moved(past, name)
    memory, _, _ = act(memory, past, jax.random.key(0))
    assert not np.isfinite(np.asarray(belief(memory, past)[1])).any()


def test_search_plays_a_card_that_the_policy_would_never_play(search):
    """The teller never plays, so it scores nothing. Told of a one while nothing lies, playing it is worth a point."""
    mind, act, _, values = search
    deck = np.array([[0, 1], [1, 1], [0, 0], [1, 0], [0, 0], [1, 0]])  # seat 1 holds R1 Y1
    state = GAME.init(jax.random.key(0), deck)
    memory = mind.init(jax.random.key(0), jnp.int32(1))
    memory, _, _ = act(memory, state, jax.random.key(0))
    state = moved(state, "hint +1 1")
    memory, action, info = act(memory, state, jax.random.key(3))
    assert NAMES[int(action)] in ("play 0", "play 1")
    assert int(jnp.argmax(info.logits)) == int(action)
    scores, found = values(memory, state)
    assert bool(found)
    # By hand: after the play the teller goes on as ever, and what lies stays: one point, against none.
    assert float(scores[NAMES.index("play 0")]) == 1.0
    assert float(scores[NAMES.index("discard 0")]) == 0.0
    assert float(scores[NAMES.index("noop")]) == -np.inf


@pytest.mark.parametrize(("players", "own_turns"), [(2, False), (3, True)])
def test_partners_with_memory_are_remembered_as_they_were(players, own_turns):
    """Gone through again with its real hand, the game gives every partner the memory that it has; so its moves are
    explained, whatever the searching player did itself."""
    game = make(f"hanabi/{players}p", suits="RY", copies=[3, 2], hand_size=2, hint_tokens=3, lives=9)
    size = game.encodings["belief"].shape
    assert size is not None
    shape = Shape(size, len(game.action_names), widths=(8,), recurrent=4, cell="lstm", depth=2, own_turns=own_turns)
    policy = NeuralPolicy(Core(shape, 3.0, jax.random.key(1)), "belief", greedy=True)
    seat, key, rng = 1, jax.random.key(0), np.random.default_rng(0)
    mind = Sparta(policy, rollouts=1, hands=1).bind(game)
    assert isinstance(mind, Sparta)

    @eqx.filter_jit
    def follow(past, memories, state):
        mine = jax.tree_util.tree_map(lambda x: x[seat], game.observe(state, "seen"))
        past, legal = _remember(game.rules, past, mine), game.legal(state)
        memories, moves, _ = jax.vmap(lambda *x: policy.act(*x, key))(memories, game.observe(state, "belief"), legal)
        return past, memories, moves, legal, mind._replay(past, mine, state.hands[seat])

    state = game.init(jax.random.key(4))
    past, memories = mind.init(key, jnp.int32(seat)), jnp.zeros((players, shape.memory))
    drew = 0
    for _ in range(4 * players):
        past, memories, moves, legal, (explained, again) = follow(past, memories, state)
        assert bool(explained)
        others = np.arange(players) != seat
        np.testing.assert_allclose(np.asarray(again)[others], np.asarray(memories)[others], atol=1e-5)
        moves = np.array(moves)
        if int(state.time) % players == seat:  # it searches: its own moves need no reason
            moves[seat] = rng.choice(np.flatnonzero(legal[seat][:4]))  # a discard or a play
            drew += 1
        state, step = game.step(state, jnp.asarray(moves))
        if bool(step.terminated):
            break
    assert drew > 1  # its hand changed on the way
    assert np.abs(np.asarray(memories)).max() > 0.01


@pytest.mark.slow
def test_one_who_searches_beside_the_policy_scores_more_than_the_policy():
    teller, other = Agent("teller", Teller()), agent("random")
    searching = sparta(teller, rollouts=200)
    teams = [Team.of(GAME, pair) for pair in ((teller, teller), (teller, searching))]
    scores = np.array([e.score for e in play(GAME, teams, episodes=12, seed=1)]).reshape(2, 12)
    assert scores[0].mean() == 0.0
    assert scores[1].mean() >= 1.0
    assert other.is_policy


def test_search_has_a_name():
    found = agent("sparta:hanabi/smart", rollouts=100)
    assert found.name == "sparta(hanabi/smart)"
    assert found.policy.rollouts == 100  # type: ignore[union-attr]
    with pytest.raises(InterplayError, match="unknown agent"):
        agent("sparta:nobody")


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(InterplayError, match="at least 1"):
        Sparta(Teller(), rollouts=0)
    with pytest.raises(InterplayError, match="hands of Hanabi"):
        Sparta(Teller()).bind(make("overcooked/cramped_room"))
    with pytest.raises(InterplayError, match="may not see"):
        sparta("hanabi/cheat").policy.bind(make("hanabi/2p"))  # type: ignore[union-attr]
    with pytest.raises(InterplayError, match="bound to a game"):
        Sparta(Teller()).game  # noqa: B018
