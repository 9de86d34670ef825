"""`check_game` accepts games that keep the contract, and names the clause that a broken one breaks."""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

import interplay
from interplay.errors import ContractError, InterplayError
from interplay.games.api import NOTHING, Encoding, Step, no_observation
from interplay.games.check import CLAUSES, check_game
from interplay.games.records import record
from interplay.games.scene import Scene


@record
class Coins:
    time: Int[Array, ""]
    coin: Int[Array, " seat"]  # a seat sees the other's coin, never its own


class Guess:
    """Two seats guess their own coins in turn."""

    pure: ClassVar[bool] = True
    num_seats = 2
    seat_names = ("ann", "bob")
    action_names: Any = ("heads", "tails", "noop")
    event_names = ("right",)
    encodings: ClassVar[Any] = {
        "other": Encoding((1,), "int32", "the other's coin"),
        "all": Encoding(None, "record", "both coins", privileged=True),
        "nothing": NOTHING,
    }
    rules_version = "1"
    replayable: Any = True

    def __init__(self, horizon: int = 5):
        self.id, self.horizon = f"{__name__}:{type(self).__name__}", horizon
        self.options: Any = {"horizon": horizon}

    def init(self, key, coin=None):
        coin = jax.random.bernoulli(key, shape=(2,)) if coin is None else coin
        return Coins(time=jnp.int32(0), coin=jnp.asarray(coin, jnp.int32))

    def start(self, state):
        return {"coin": state.coin}

    def step(self, state, actions, key):
        right = (jnp.asarray(actions) == state.coin) & self.to_move(state)
        time = state.time + 1
        return Coins(time=time, coin=state.coin), Step(
            reward=right.astype(jnp.float32),
            shaped=jnp.zeros(2),
            terminated=jnp.bool_(False),
            truncated=time >= self.horizon,
            events=right.astype(jnp.int32)[:, None],
        )

    def observe(self, state, encoding):
        if encoding == "all":
            return {"coins": jnp.stack([state.coin, state.coin])}
        return no_observation(2) if encoding == "nothing" else state.coin[::-1, None]

    def legal(self, state):
        turn = self.to_move(state)[:, None]
        return jnp.where(turn, jnp.array([True, True, False]), jnp.array([False, False, True]))

    def to_move(self, state):
        return jnp.arange(2) == state.time % 2

    def render(self, state, seat=None):
        return f"time {state.time}" if seat is None else f"time {state.time}, the other's coin {state.coin[1 - seat]}"

    def scene(self, state, seat=None) -> Any:
        return Scene(10, 10, (), (("circle", 5, 5, 4, "#000000"),))


class Plain(Guess):
    """The same, but not pure JAX."""

    pure: ClassVar[bool] = False


def flipped(state, seat, rng):
    """A state with the seat's own coin turned over: it cannot know."""
    return Coins(time=state.time, coin=state.coin.at[seat].set(1 - state.coin[seat]))


@pytest.mark.parametrize("game", [Guess(), Guess(horizon=1), Plain()], ids=["pure", "short", "python"])
def test_a_sound_game_passes(game):
    assert check_game(game, alike=flipped) == ("attributes", "legal", *CLAUSES)


def test_secrecy_is_not_claimed_without_states_to_compare():
    assert "secrecy" not in check_game(Plain())


@pytest.mark.parametrize(
    "name", [pytest.param("overcooked/cramped_room", marks=pytest.mark.slow), "overcooked/counter_circuit_multi"]
)
def test_kitchens_keep_the_contract(name):
    check_game(interplay.make(name, horizon=60))


@pytest.mark.slow
def test_a_kitchen_with_three_chefs_and_ruled_out_interacts_keeps_the_contract():
    check_game(interplay.make("overcooked/counter_circuit", players=3, rule_out_null_interacts=True), steps=25)


def other_own_card(state, seat, rng):
    """The start of Hanabi in which a card of the seat's own and the last card of the deck are exchanged."""
    game = interplay.make("hanabi/2p")
    for place in range(10) if int(state.time) == 0 else ():
        deck = np.array(game.start(state)["deck"])
        deck[[place, -1]] = deck[[-1, place]]
        twin = game.init(None, deck=deck)
        if (twin.hands[1 - seat] == state.hands[1 - seat]).all() and (twin.hands[seat] != state.hands[seat]).any():
            return twin
    return None


def test_hanabi_keeps_the_contract_and_hides_the_own_cards():
    check_game(interplay.make("hanabi/2p"), alike=other_own_card)


class NoHorizon(Guess):
    def __init__(self):
        super().__init__()
        del self.horizon


class NoMethod(Guess):
    scene = None


class SeatTooMany(Guess):
    seat_names = ("ann", "bob", "eve")


class SameActionTwice(Guess):
    action_names = ("heads", "heads", "noop")


class MaybeReplayable(Guess):
    replayable = None


class OptionsWithObjects(Guess):
    def __init__(self, horizon=5):
        super().__init__(horizon)
        self.options = {"horizon": horizon, "extra": {1, 2}}


class Watched(Guess):
    encodings: ClassVar[Any] = {"other": Guess.encodings["other"], "all": Guess.encodings["all"]}


class HalfMarked(Guess):
    encodings: ClassVar[Any] = {"all": Encoding(None, "record", "all", privileged="yes"), "nothing": NOTHING}  # type: ignore


class ForgetsOptions(Guess):
    def __init__(self, horizon=5):
        super().__init__(horizon)
        self.options = {}


class Unmakeable(Guess):
    def __init__(self, horizon=5):
        super().__init__(horizon)
        self.id = "overcooked/nowhere"


class Fickle(Plain):
    def init(self, key, coin=None):
        return super().init(key, np.random.default_rng().integers(2**30, size=2))


class ForgetsItsStart(Guess):
    def start(self, state):
        return {}

    def init(self, key, coin=None):
        state = super().init(key, coin)
        return Coins(time=state.time, coin=jax.random.randint(key, (2,), 0, 1000))


class OneRewardForAll(Guess):
    def step(self, state, actions, key):
        after, step = super().step(state, actions, key)
        return after, Step(**vars(step) | {"reward": step.reward.sum()})


class CountsBackwards(Guess):
    def step(self, state, actions, key):
        after, step = super().step(state, actions, key)
        return after, Step(**vars(step) | {"events": step.events - 1})


class NotANumber(Guess):
    def step(self, state, actions, key):
        after, step = super().step(state, actions, key)
        return after, Step(**vars(step) | {"shaped": step.shaped / 0})


class GymTuple(Plain):
    def step(self, state, actions, key):
        after, step = super().step(state, actions, key)
        return after, (step.reward, False)


class Remembers(Plain):
    calls = 0

    def step(self, state, actions, key):
        after, step = super().step(state, actions, key)
        Remembers.calls += 1
        return Coins(time=after.time, coin=after.coin + Remembers.calls), step


class Chance(Guess):
    def step(self, state, actions, key):
        after, step = super().step(state, actions, key)
        return Coins(time=after.time, coin=jax.random.randint(key, (2,), 0, 1000)), step


class Overwrites(Plain):
    def init(self, key, coin=None):
        state = super().init(key, coin)
        return Coins(time=state.time, coin=np.array(state.coin))

    def step(self, state, actions, key):
        after, step = super().step(state, actions, key)
        state.coin[:] += 1
        return after, step


class OtherType(Guess):
    def observe(self, state, encoding):
        return super().observe(state, encoding) if encoding != "other" else state.coin[::-1, None].astype(jnp.float32)


class NoSeatAxis(Guess):
    def observe(self, state, encoding):
        return super().observe(state, encoding) if encoding != "all" else {"time": state.time}


class ShowsOwnCoin(Guess):
    def observe(self, state, encoding):
        return state.coin[:, None] if encoding == "other" else super().observe(state, encoding)


class TellsOwnCoin(Guess):
    def render(self, state, seat=None):
        return f"time {state.time}, coins {state.coin}"


class NothingAllowed(Guess):
    def legal(self, state):
        return super().legal(state) & (state.time < 3)


class LegalAsNumbers(Guess):
    def legal(self, state):
        return super().legal(state).astype(jnp.int32)


class NobodysTurn(Guess):
    def to_move(self, state):
        return jnp.zeros(2, bool)


class MayPass(Guess):
    def legal(self, state):
        return super().legal(state).at[:, -1].set(True)


class MayInterrupt(Guess):
    def legal(self, state):
        return super().legal(state).at[:, 0].set(True)


class Endless(Guess):
    def step(self, state, actions, key):
        after, step = super().step(state, actions, key)
        return after, Step(**vars(step) | {"truncated": jnp.bool_(False)})


class Branches(Guess):
    def step(self, state, actions, key):
        if state.time > 2:
            return super().step(state, actions, key)
        return super().step(state, actions, key)


class BranchesInView(Guess):
    def observe(self, state, encoding):
        return super().observe(state, encoding) if int(state.time) < 99 else None


class OtherWhenCompiled(Guess):
    def observe(self, state, encoding):
        shift = 1 if isinstance(state.coin, jax.core.Tracer) and encoding == "other" else 0
        return super().observe(Coins(time=state.time, coin=state.coin + shift), encoding)


class Silent(Guess):
    def render(self, state, seat=None):
        return ""


class DrawsText(Guess):
    def scene(self, state, seat=None):
        return "<svg/>"


class DrawsNonsense(Guess):
    def scene(self, state, seat=None):
        return Scene(10, 10, (), (("blob", 1),))


BROKEN = {
    NoHorizon: ("attributes", "horizon"),
    NoMethod: ("attributes", "scene"),
    SeatTooMany: ("attributes", "2 seat names"),
    SameActionTwice: ("attributes", "action_names"),
    MaybeReplayable: ("attributes", "replayable"),
    OptionsWithObjects: ("attributes", "JSON"),
    Watched: ("attributes", "'nothing'"),
    HalfMarked: ("attributes", "encodings"),
    ForgetsOptions: ("options", "horizon"),
    Unmakeable: ("options", "unknown game"),
    Fickle: ("init", "same key"),
    ForgetsItsStart: ("start", ".coin"),
    OneRewardForAll: ("step", "reward to be floating[2]"),
    CountsBackwards: ("step", "counts from 0"),
    GymTuple: ("step", "tuple"),
    NotANumber: ("rewards", "shaped to be finite"),
    Remembers: ("determinism", ".coin"),
    Chance: ("replayable", "replayable = False"),
    Overwrites: ("purity", ".coin"),
    OtherType: ("encodings", "int32[2, 1]"),
    NoSeatAxis: ("encodings", "2 seats"),
    ShowsOwnCoin: ("secrecy", "'other' to be marked privileged"),
    TellsOwnCoin: ("secrecy", "render"),
    NothingAllowed: ("legal", "none for ann"),
    LegalAsNumbers: ("legal", "int32[2, 3]"),
    NobodysTurn: ("to_move", "nobody at step 0"),
    MayPass: ("turns", "illegal on turn"),
    MayInterrupt: ("turns", "only the no-op"),
    Endless: ("horizon", "after 5 steps"),
    Branches: ("compiled", "Tracer"),
    BranchesInView: ("compiled", "observe"),
    OtherWhenCompiled: ("compiled", "under jit"),
    Silent: ("render", "text"),
    DrawsText: ("scene", "str"),
    DrawsNonsense: ("scene", "blob"),
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_game_is_told_which_clause_it_breaks(kind):
    clause, words = BROKEN[kind]
    pairs = flipped if kind in (ShowsOwnCoin, TellsOwnCoin) else None
    with pytest.raises(ContractError) as caught:
        check_game(kind(horizon=7) if kind is ForgetsOptions else kind(), alike=pairs)
    assert caught.value.clause == clause
    assert words in str(caught.value)
    assert isinstance(caught.value, InterplayError)


def test_useless_twins_do_not_count_as_a_check_of_secrecy():
    with pytest.raises(ContractError, match="the same state each time"):
        check_game(Plain(), alike=lambda state, seat, rng: state)


class Settled(Guess):
    """Chance decides nothing, so `start` is empty."""

    def init(self, key):
        return super().init(key, coin=[0, 1])

    def start(self, state):
        return {}


def test_a_game_without_chance_starts_with_nothing():
    check_game(Settled())
