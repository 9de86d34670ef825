"""`check_agent` accepts agents that keep the contract, and names the clause that a broken one breaks."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.api import FunctionPlayer, Info, Move, Policy
from interplay.agents.basic import Noisy, Random, Stay, masked
from interplay.errors import ContractError
from interplay.rollout.check_agent import PLAYER_CLAUSES, POLICY_CLAUSES, check_agent
from tests.games.test_check import Guess, Plain

KITCHEN = interplay.make("overcooked/cramped_room")


class Counting(Policy):
    """A small policy with memory, which the broken ones below change."""

    @property
    def encoding(self) -> str:
        return "other"

    def init(self, key, seat):
        return {"seen": jnp.int32(0), "seat": jnp.asarray(seat, jnp.int32)}

    def act(self, memory, obs, legal, key):
        logits = masked(obs[0] * jnp.arange(legal.shape[0]).astype(jnp.float32), legal)
        memory = memory | {"seen": memory["seen"] + 1}
        return memory, jax.random.categorical(key, logits), Info(logits)


@pytest.mark.parametrize("game", [Guess(), Plain()], ids=["pure", "python"])
def test_a_sound_policy_passes(game):
    assert check_agent(Counting(), game) == POLICY_CLAUSES


@pytest.mark.parametrize("agent", ["random", "stay", "random+0.5"])
def test_our_own_agents_keep_the_contract(agent):
    assert check_agent(agent, KITCHEN, steps=8) == POLICY_CLAUSES


def test_a_name_is_enough_for_the_game():
    assert check_agent(Noisy(Stay(), 0.5), "overcooked/cramped_room", steps=3) == POLICY_CLAUSES


class UnknownEncoding(Counting):
    @property
    def encoding(self) -> str:
        return "pixels"


class NoEncoding(Counting):
    @property
    def encoding(self) -> Any:
        return None


class BindsToNothing(Counting):
    def bind(self, game) -> Any:
        return None


class ChangesItsEyes(Counting):
    def bind(self, game):
        return Random()


class Cheats(Counting):
    def act(self, memory, obs, legal, key):
        memory, _, info = super().act(memory, obs, legal, key)
        return memory, jnp.int32(0), info


class OutOfRange(Counting):
    def act(self, memory, obs, legal, key):
        memory, _, info = super().act(memory, obs, legal, key)
        return memory, jnp.int32(17), info


class OddsForAction(Counting):
    def act(self, memory, obs, legal, key):
        memory, _, info = super().act(memory, obs, legal, key)
        return memory, info.logits, info


class NoInfo(Counting):
    def act(self, memory, obs, legal, key):
        return super().act(memory, obs, legal, key)[:2]


class BareLogits(Counting):
    def act(self, memory, obs, legal, key):
        memory, action, info = super().act(memory, obs, legal, key)
        return memory, action, info.logits


class MinusInfinity(Counting):
    def act(self, memory, obs, legal, key):
        memory, action, info = super().act(memory, obs, legal, key)
        return memory, action, Info(jnp.where(legal, info.logits, -jnp.inf))


class TooFewLogits(Counting):
    def act(self, memory, obs, legal, key):
        memory, action, info = super().act(memory, obs, legal, key)
        return memory, action, Info(info.logits[:-1])


class GrowingMemory(Counting):
    def act(self, memory, obs, legal, key):
        memory, action, info = super().act(memory, obs, legal, key)
        return (
            memory | {"seen": jnp.concatenate([jnp.atleast_1d(memory["seen"]), jnp.zeros(1, jnp.int32)])},
            action,
            info,
        )


class FloatMemory(Counting):
    def act(self, memory, obs, legal, key):
        memory, action, info = super().act(memory, obs, legal, key)
        return memory | {"seen": memory["seen"] / 2}, action, info


class Moody(Counting):
    def act(self, memory, obs, legal, key):
        memory, action, info = super().act(memory, obs, legal, key)
        shape = jax.ShapeDtypeStruct(info.logits.shape, info.logits.dtype)
        mood = jax.pure_callback(lambda: np.random.default_rng().normal(size=3).astype(np.float32), shape)
        return memory, action, Info(info.logits * 0 + mood)


class Branches(Counting):
    def act(self, memory, obs, legal, key):
        return super().act(memory, obs if legal[0] else -obs, legal, key)


class OnlyFirstSeat(Counting):
    def init(self, key, seat):
        return super().init(key, seat) if seat == 0 else None


class OtherWhenCompiled(Counting):
    def act(self, memory, obs, legal, key):
        memory, action, info = super().act(memory, obs, legal, key)
        return memory, action, Info(info.logits + (1.0 if isinstance(obs, jax.core.Tracer) else 0.0))


BROKEN = {
    UnknownEncoding: ("encoding", "pixels"),
    NoEncoding: ("encoding", "None"),
    BindsToNothing: ("bind", "a Policy"),
    ChangesItsEyes: ("bind", "'nothing'"),
    Cheats: ("action", "off turn"),
    OutOfRange: ("action", "17"),
    OddsForAction: ("action", "whole number"),
    NoInfo: ("action", "(memory, action, info)"),
    BareLogits: ("logits", "Info"),
    MinusInfinity: ("logits", "finite"),
    TooFewLogits: ("logits", "3 actions"),
    GrowingMemory: ("memory", "int32[2]"),
    FloatMemory: ("memory", "float32[]"),
    Moody: ("determinism", "same answer"),
    Branches: ("vmap", "pure JAX"),
    OnlyFirstSeat: ("seats", "pure JAX"),
    OtherWhenCompiled: ("vmap", "compiled or not"),
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_policy_is_told_which_clause_it_breaks(kind):
    clause, words = BROKEN[kind]
    with pytest.raises(ContractError) as caught:
        check_agent(kind(), Guess())
    assert caught.value.clause == clause
    assert words in str(caught.value)


class Sitting:
    """A player whose session answers what a function says."""

    encoding, deadline_s, default_action = "other", None, None

    def __init__(self, answer, **changes):
        self.answer = answer
        vars(self).update(changes)

    def begin(self, game, seat, seed):
        return self

    async def act(self, view):
        return self.answer(view)


class Impatient(Sitting):
    def begin(self, game, seat, seed):
        return object()


def first_legal(view):
    return int(np.flatnonzero(view.legal)[0])


@pytest.mark.parametrize("answer", [first_legal, lambda view: Move(first_legal(view)), lambda view: np.int64(1)])
def test_a_sound_player_passes(answer):
    assert check_agent(Sitting(answer), Guess()) == PLAYER_CLAUSES


def test_a_function_is_a_player_in_every_seat():
    seen = []

    def choose(observation, legal):
        seen.append(observation.shape)
        return int(np.flatnonzero(legal)[-1])

    check_agent(FunctionPlayer(choose, encoding="planes"), KITCHEN, steps=4)
    assert seen == [(5, 4, 26)] * 8


BROKEN_PLAYERS = {
    "off_turn_action": (Sitting(lambda view: 2), "action", "(noop)"),
    "out_of_range": (Sitting(lambda view: -1), "action", "-1"),
    "words": (Sitting(lambda view: "heads"), "action", "'heads'"),
    "yes": (Sitting(lambda view: True), "action", "True"),
    "no_session": (Impatient(first_legal), "begin", "async def act"),
    "deadline": (Sitting(first_legal, deadline_s=-1), "attributes", "deadline_s"),
    "default": (Sitting(first_legal, default_action=9), "attributes", "default_action"),
    "encoding": (Sitting(first_legal, encoding="smell"), "encoding", "smell"),
}


@pytest.mark.parametrize("name", BROKEN_PLAYERS)
def test_a_broken_player_is_told_which_clause_it_breaks(name):
    player, clause, words = BROKEN_PLAYERS[name]
    with pytest.raises(ContractError) as caught:
        check_agent(player, Guess())
    assert caught.value.clause == clause
    assert words in str(caught.value)
