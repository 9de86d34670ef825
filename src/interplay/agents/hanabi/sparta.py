"""Search on top of any policy (SPARTA with one searching player).

Before each of its moves the player rates every legal move by playing the game to its end from hands that it could hold,
with everyone on the policy, and replaces the policy's move only by one that is better by a margin.

The belief holds every hand that fits hints and seen cards, weighted by its probability of being dealt, less those with
which some partner would not have made one of its moves. The partners are assumed to play the policy's likeliest move,
so only one player at a table may search: another one's moves would be misread.

A current hand determines all earlier ones, since cards that have left it lie open; so the whole game is replayed for
each hand, which also serves policies with memory. Where a hand has few possibilities all are listed and the belief is
exact; else `hands` of them are drawn before the filter.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, PRNGKeyArray, PyTree

from interplay.agents.api import Agent, Info, Memory, Policy, as_agent
from interplay.agents.basic import masked
from interplay.agents.identity import content_hash
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.hanabi import rules as hanabi
from interplay.games.hanabi.encode import HanabiObservation
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.hand_sampling import draw_hand, set_hand, unseen
from interplay.games.hanabi.state import DISCARD, NO_CARD, PLAY, HanabiRules, HanabiState

LISTED = 5000  # up to so many combinations of cards all hands are listed
PARTS = 3  # of the rollouts, one after the other: fewer is quicker, and takes more memory


class Past(NamedTuple):
    """What the searching player has seen, [turn, ...], and what became of its own cards."""

    seat: Int[Array, ""]
    views: HanabiObservation  # [turn, ...] before each move
    born: Int[Array, "turn slot"]  # of its own hand, the number of each card: the how many-th that it was dealt
    known: Int8[Array, " card"]  # what its own cards were that have left its hand, by number
    dealt: Int[Array, ""]  # cards that it was dealt so far
    own: Any  # the policy's own memory


class Sparta(Policy):
    """A policy with search."""

    identity_kind: ClassVar[str] = "sparta"
    encoding: ClassVar[str] = "seen"  # that `act` reads
    blueprint: Policy
    least: Float[Array, ""]  # how much better a move has to be
    rollouts: int = eqx.field(static=True)  # in all, shared equally by the legal moves
    hands: int = eqx.field(static=True)  # drawn where they cannot be listed
    rules: HanabiRules | None = eqx.field(static=True)

    def __init__(
        self,
        blueprint: Policy,
        *,
        rollouts: int = 10_000,
        hands: int = 2_000,
        least: float = 0.05,
        rules: HanabiRules | None = None,
    ):
        for name, value in (("rollouts", rollouts), ("hands", hands)):
            if value < 1:
                raise InterplayError(f"sparta: {name} is {value}; at least 1")
        self.blueprint, self.rollouts, self.hands, self.rules = blueprint, rollouts, hands, rules
        self.least = jnp.float32(least)

    def bind(self, game: Game) -> Policy:
        """Bind the policy to search on.

        Raises:
            InterplayError: The game is not Hanabi, or the policy reads what a seat may not see.
        """
        if not isinstance(game, Hanabi):
            raise InterplayError(f"this search knows the hands of Hanabi; the game is {game.id}")
        if game.encodings[self.blueprint.encoding].privileged:
            raise InterplayError("the policy to search on reads what a seat may not see, so it says nothing of hands")
        made = Sparta(self.blueprint.bind(game), rollouts=self.rollouts, hands=self.hands, rules=game.rules)
        return eqx.tree_at(lambda s: s.least, made, self.least)

    @property
    def game(self) -> Hanabi:
        """The bound game."""
        if self.rules is None:
            raise InterplayError("sparta has to be bound to a game first")
        return Hanabi("hanabi", self.rules, {})

    def init(self, key: PRNGKeyArray, seat: Int[Array, ""]) -> Past:
        """Return the memory at the start of an episode."""
        rules = self.game.rules
        turns = rules.horizon + 1
        shapes = jax.eval_shape(lambda: self.game.observe(self.game.init(jax.random.key(0)), "seen"))
        views = jax.tree.map(lambda x: jnp.zeros((turns, *x.shape[1:]), x.dtype), shapes)
        born = jnp.zeros((turns, rules.hand_size), jnp.int32).at[0].set(jnp.arange(rules.hand_size))
        return Past(
            seat=jnp.asarray(seat),
            views=views,
            born=born,
            known=jnp.full(rules.deck_size, NO_CARD, jnp.int8),
            dealt=jnp.int32(rules.hand_size),
            own=self.blueprint.init(key, seat),
        )

    def act(
        self, memory: Past, obs: HanabiObservation, legal: Bool[Array, " action"], key: PRNGKeyArray
    ) -> tuple[Memory, Array, Info]:
        """Choose an action and update the memory."""
        rules, game = self.game.rules, self.game
        for_policy, for_search = jax.random.split(key)
        past = _remember(rules, memory, obs)
        view = _seat(game.observe(_state(rules, obs, _placeholder(obs)), self.blueprint.encoding), obs.seat)
        own, _, info = self.blueprint.act(past.own, view, legal, for_policy)
        past = past._replace(own=own)
        base = jnp.argmax(masked(info.logits, legal))
        on_turn = obs.time % rules.players == obs.seat
        action = jax.lax.cond(on_turn, lambda: self._search(past, obs, legal, base, for_search), lambda: base)
        logits = masked(jnp.where(jnp.arange(legal.shape[0]) == action, 0.0, -30.0), legal)
        return past, action, Info(logits)

    def _search(
        self, past: Past, obs: HanabiObservation, legal: Array, base: Array, key: PRNGKeyArray
    ) -> Int[Array, ""]:
        gains, explained = self.values(past, obs, legal, key)
        best = jnp.argmax(jnp.where(legal, gains, -jnp.inf))
        better = gains[best] - gains[base] >= self.least
        return jnp.where(explained & better, best, base)

    def values(
        self, past: Past, obs: HanabiObservation, legal: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, " action"], Bool[Array, ""]]:
        """Return the mean final score of each legal move, and whether any hand explains what the partners did."""
        rules, game = self.game.rules, self.game
        for_hands, for_choice, for_deck, for_play = jax.random.split(key, 4)
        hands, weights = self.belief(past, obs, for_hands)
        actions = len(game.action_names)
        rollouts = max(self.rollouts, actions)
        deals = max(1, rollouts // rules.hand_size)  # as many as moves need where there are no more than cards to play
        chosen = jax.random.categorical(for_choice, weights, shape=(deals,))
        picked = hands[chosen]
        memories = jax.vmap(lambda hand: self._replay(past, obs, hand)[1])(picked)
        decks = jax.random.split(for_deck, deals)
        blank = _state(rules, obs, _placeholder(obs), _turns_left(rules, past, obs.time))
        states = jax.vmap(lambda hand, k: set_hand(rules, blank, obs.seat, hand, k))(picked, decks)
        plays = jax.random.split(for_play, deals)
        # The legal moves one after the other, all of them with the same hand, deck and chances, then with the next.
        count, number = jnp.sum(legal), jnp.arange(rollouts)
        rounds = jnp.clip(rollouts // count, 1, deals)
        move, deal = jnp.argsort(~legal, stable=True)[number % count], number // count

        def play_out(now: tuple[Array, Array]) -> Array:
            state, memory, key = jax.tree.map(lambda x: x[now[1]], (states, memories, plays))
            return self._to_the_end(state, memory, past, now[0], key)

        scores = jax.lax.map(play_out, (move, jnp.minimum(deal, deals - 1)), batch_size=-(-rollouts // PARTS))
        total = jnp.zeros(actions).at[move].add(jnp.where(deal < rounds, scores, 0.0))
        return jnp.where(legal, total / rounds, -jnp.inf), jnp.any(jnp.isfinite(weights))

    def belief(
        self, past: Past, obs: HanabiObservation, key: PRNGKeyArray
    ) -> tuple[Int8[Array, "hand slot"], Float[Array, " hand"]]:
        """Return hands and their log weights, minus infinity where a partner would have moved otherwise."""
        rules = self.game.rules
        blank = _state(rules, obs, _placeholder(obs))
        if rules.identities**rules.hand_size <= LISTED:
            hands, weights = _all_hands(rules, blank, obs.seat)
        else:
            keys = jax.random.split(key, self.hands)
            hands, sound = jax.vmap(lambda k: draw_hand(rules, blank, obs.seat, k))(keys)
            weights = jnp.where(sound, 0.0, -jnp.inf)
        explains = jax.vmap(lambda hand: self._replay(past, obs, hand)[0])(hands)
        return hands, jnp.where(explains, weights, -jnp.inf)

    def _replay(self, past: Past, obs: HanabiObservation, hand: Int8[Array, " slot"]) -> tuple[Bool[Array, ""], Any]:
        """Return whether all partners would have moved as they did with this hand, and their memories now."""
        rules, game, policy = self.game.rules, self.game, self.blueprint
        seats = jnp.arange(rules.players)
        cards = past.known.at[jnp.where(hand == NO_CARD, rules.deck_size, past.born[obs.time])].set(hand, mode="drop")
        key = jax.random.key(0)

        def turn(carry: tuple[Array, Any], t: Array) -> tuple[Any, None]:
            fits, memories = carry
            seen = jax.tree.map(lambda x: x[t], past.views)
            own_hand = jnp.where(seen.hands[obs.seat] == NO_CARD, jnp.int8(NO_CARD), cards[past.born[t]])
            state = _state(rules, seen, own_hand)
            views, legal = game.observe(state, policy.encoding), hanabi.legal(rules, state)
            after, _, info = jax.vmap(lambda m, v, ok: policy.act(m, v, ok, key))(memories, views, legal)
            mover = t % rules.players
            would = jnp.argmax(masked(info.logits[mover], legal[mover]))
            did = past.views.last.action[t + 1]
            before = t < obs.time
            fits = fits & (~before | (mover == obs.seat) | (would == did))
            now = t <= obs.time  # memories see the turn at hand as well: they are asked from the next one on
            return (fits, jax.tree.map(lambda a, b: jnp.where(now, a, b), after, memories)), None

        fresh = jax.vmap(lambda seat: policy.init(key, seat))(seats)
        (fits, memories), _ = jax.lax.scan(turn, (jnp.bool_(True), fresh), jnp.arange(rules.horizon))
        return fits, memories

    def _to_the_end(self, state: HanabiState, memories: Memory, past: Past, first: Array, key: PRNGKeyArray) -> Array:
        """Return the final score if this move is made and everyone continues with the policy's likeliest moves."""
        rules, game, policy = self.game.rules, self.game, self.blueprint
        mine = jnp.arange(rules.players) == past.seat
        memories = jax.tree.map(
            lambda theirs, own: jnp.where(mine.reshape(-1, *[1] * own.ndim), own, theirs), memories, past.own
        )
        state = hanabi.step(rules, state, jnp.full(rules.players, first))

        def goes_on(carry: tuple[HanabiState, Any]) -> Array:
            return ~hanabi.is_over(rules, carry[0])

        def turn(carry: tuple[HanabiState, Any]) -> tuple[HanabiState, Any]:
            state, memories = carry
            views, legal = game.observe(state, policy.encoding), hanabi.legal(rules, state)
            memories, _, info = jax.vmap(lambda m, v, ok: policy.act(m, v, ok, key))(memories, views, legal)
            moves = jnp.argmax(jax.vmap(masked)(info.logits, legal), axis=-1)
            return hanabi.step(rules, state, moves), memories

        state, _ = jax.lax.while_loop(goes_on, turn, (state, memories))
        return hanabi.score(rules, state).astype(jnp.float32)


def sparta(blueprint: Any, **options: Any) -> Agent:
    """Make an agent that searches on top of another one.

    Raises:
        InterplayError: `blueprint` is a player, not a policy.
    """
    base = as_agent(blueprint)
    if not isinstance(base.policy, Policy):
        raise InterplayError(f"{base.name!r} is a player; search needs a policy, which can be asked in any position")
    config = {**base.config, **options, "base": content_hash(base)}
    return Agent(f"sparta({base.name})", Sparta(base.policy, **options), config)


def _placeholder(obs: HanabiObservation) -> Int8[Array, " slot"]:
    """Return some card in each slot where the player holds one; its own view never shows which."""
    return jnp.where(obs.hands[obs.seat] == NO_CARD, jnp.int8(NO_CARD), jnp.int8(0))


def _seat(tree: PyTree, seat: Array) -> Any:
    return jax.tree.map(lambda x: x[seat], tree)


def _remember(rules: HanabiRules, past: Past, obs: HanabiObservation) -> Past:
    """Add the current turn; shift the own hand if the last move used one of its cards."""
    moves, last, now = rules.moves, obs.last, obs.time
    kind, slot = jnp.asarray(moves.kind)[last.action], jnp.asarray(moves.slot)[last.action]
    mine = (now > 0) & ((now - 1) % rules.players == past.seat) & ((kind == PLAY) | (kind == DISCARD))
    before = past.born[jnp.maximum(now - 1, 0)]
    places = jnp.arange(rules.hand_size)
    moved = jnp.where(places >= slot, jnp.roll(before, -1), before).at[-1].set(past.dealt)
    drew = mine & (obs.hands[past.seat, -1] != NO_CARD)
    known = past.known.at[jnp.where(mine, before[slot], rules.deck_size)].set(last.card, mode="drop")
    views = jax.tree.map(lambda all, view: all.at[now].set(view), past.views, obs)
    born = past.born.at[now].set(jnp.where(mine, moved, jnp.where(now > 0, before, past.born[0])))
    return past._replace(views=views, born=born, known=known, dealt=past.dealt + drew)


def _state(
    rules: HanabiRules, seen: HanabiObservation, hand: Int8[Array, " slot"], turns_left: Any = None
) -> HanabiState:
    """Return the state that a seat sees, with this hand in its place.

    The deck and the turns left are not visible and have to be filled in before playing on.
    """
    is_seat = (jnp.arange(rules.players) == seen.seat)[:, None]
    dealt = rules.deck_size - seen.deck
    return HanabiState(
        deck=jnp.zeros(rules.deck_size, jnp.int8),
        dealt=dealt,
        hands=jnp.where(is_seat, hand, seen.hands),
        possible=seen.possible,
        told_colours=seen.told_colours,
        told_ranks=seen.told_ranks,
        fireworks=seen.fireworks,
        discards=seen.discards,
        tokens=seen.tokens,
        lives=seen.lives,
        time=seen.time,
        turns_left=jnp.int32(rules.players) if turns_left is None else turns_left,
        last=seen.last,
    )


def _turns_left(rules: HanabiRules, past: Past, now: Int[Array, ""]) -> Int[Array, ""]:
    """Return the moves to the end once the deck is empty, counted from the views."""
    earlier = jnp.arange(past.views.deck.shape[0]) < now
    return rules.players - jnp.sum(earlier & (past.views.deck == 0), dtype=jnp.int32)


def _all_hands(
    rules: HanabiRules, state: HanabiState, seat: Array
) -> tuple[Int8[Array, "hand slot"], Float[Array, " hand"]]:
    """Return every combination of cards, and the logarithm of the number of ways to be dealt it."""
    listed = np.array(list(itertools.product(range(rules.identities), repeat=rules.hand_size)), np.int8)
    there = state.hands[seat] != NO_CARD
    left = unseen(rules, state, seat)

    def ways(hand: Array) -> Array:
        count, rest = jnp.float32(1.0), left
        for slot in range(rules.hand_size):
            card = hand[slot].astype(jnp.int32)
            fits = ((state.possible[seat, slot] >> card.astype(jnp.uint32)) & 1).astype(jnp.float32)
            count = count * jnp.where(there[slot], fits * jnp.maximum(rest[card], 0), (card == 0).astype(jnp.float32))
            rest = rest - jnp.where(there[slot], jnp.arange(rules.identities) == card, False)
        return count

    weights = jax.vmap(ways)(jnp.asarray(listed))
    hands = jnp.where(there, jnp.asarray(listed), jnp.int8(NO_CARD))
    return hands, jnp.where(weights > 0, jnp.log(jnp.maximum(weights, 1e-30)), -jnp.inf)
