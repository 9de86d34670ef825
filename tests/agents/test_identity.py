"""Who an agent is does not depend on where its code lies or what its classes and fields are called."""

import dataclasses
import functools
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.api import Agent, FunctionPlayer, Info, Policy
from interplay.agents.basic import Noisy, Random
from interplay.agents.identity import content_hash
from interplay.agents.networks import Core, Shape
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError


def network(seed=0, **changes):
    shape = Shape(input=(4,), outputs=3, widths=(5,), **changes)
    return NeuralPolicy(Core(shape, 1.0, jax.random.key(seed)), "features", trained_for="somewhere")


def test_a_registered_agent_is_its_name_and_settings():
    one, other = interplay.agent("hanabi/smart"), interplay.agent("hanabi/smart")
    assert content_hash(one) == content_hash(other)
    assert content_hash(one) != content_hash(interplay.agent("hanabi/holmes"))
    renamed = dataclasses.replace(one, policy=type("Elsewhere", (type(one.policy),), {"__module__": "moved"})())
    assert content_hash(renamed) == content_hash(one)
    assert content_hash(interplay.agent("random+0.1")) != content_hash(interplay.agent("random+0.2"))
    assert content_hash(interplay.agent("hanabi/smart+0.1")) != content_hash(interplay.agent("hanabi/holmes+0.1"))


def test_a_network_is_its_weights_and_what_it_reads():
    agent = Agent("net", network())
    assert content_hash(agent) == content_hash(Agent("other name", network()))
    assert content_hash(agent) != content_hash(Agent("net", network(seed=1)))
    assert content_hash(agent) != content_hash(Agent("net", network(activation="tanh")))
    greedy = eqx.tree_at(lambda p: p.greedy, network(), jnp.bool_(True))
    assert content_hash(agent) != content_hash(Agent("net", greedy))


def test_a_new_setting_at_its_default_changes_no_network(monkeypatch):
    before = content_hash(Agent("net", network()))
    shape = Shape(input=(4,), outputs=3, widths=(5,))
    assert "cell" not in shape.changes()  # what stands at its default is no part of the identity
    assert content_hash(Agent("net", network(cell="gru"))) == before


def test_functions_are_told_apart_by_their_source_or_a_version():
    def left(observation):
        return 0

    def right(observation):
        return 1

    def same(function, **settings):
        return content_hash(Agent("f", FunctionPlayer(function, "planes", **settings)))

    assert same(left) != same(right)
    assert same(left) == same(left)
    assert same(left, version="1") == same(right, version="1")
    assert same(left, version="1") != same(left, version="2")


class Mine(Policy):
    """A policy of a user's own, which declares nothing."""

    bias: jax.Array

    @property
    def encoding(self):
        return "nothing"

    def act(self, memory, obs, legal, key):
        return memory, jnp.int32(0), Info(jnp.zeros(legal.shape))


def test_a_policy_that_declares_nothing_counts_by_its_source_and_values():
    assert content_hash(Agent("a", Mine(jnp.zeros(2)))) == content_hash(Agent("b", Mine(jnp.zeros(2))))
    assert content_hash(Agent("a", Mine(jnp.zeros(2)))) != content_hash(Agent("a", Mine(jnp.ones(2))))
    assert content_hash(Agent("a", Noisy(Mine(jnp.zeros(2)), 0.1))) != content_hash(Agent("a", Noisy(Random(), 0.1)))


def test_a_hash_is_the_same_in_every_process():
    """Python's own `hash` differs from process to process; identities and seeds never use it."""
    code = "import interplay; from interplay.agents.identity import content_hash as h\n"
    code += "print(h(interplay.agent('overcooked/greedy+0.25')), h(interplay.agent('trained/hanabi/2p/bc-1')))"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def chooser(action):
    def choose(observation):
        return action

    return choose


class Chooser:
    """A callable object; what it has seen is no part of who it is."""

    def __init__(self, action):
        self.action, self.seen = action, []

    def __call__(self, observation):
        return self.action

    def choose(self, observation):
        return self.action


def choose_by(action, observation):
    return action


PAIRS = {
    "closures": (chooser(0), chooser(1)),
    "closures over arrays": (chooser(jnp.zeros(2)), chooser(jnp.ones(2))),
    "lambdas of one line": (lambda observation: 0, lambda observation: 1),
    "partials": (functools.partial(choose_by, 0), functools.partial(choose_by, 1)),
    "callable objects": (Chooser(0), Chooser(1)),
    "methods": (Chooser(0).choose, Chooser(1).choose),
    "defaults": tuple(function for number in (0, 1) for function in [lambda observation, action=number: action]),
}


def hash_of(function):
    return content_hash(Agent("f", FunctionPlayer(function, "planes")))


@pytest.mark.parametrize("kind", PAIRS)
def test_functions_of_one_source_are_told_apart_by_what_they_were_made_with(kind):
    one, other = PAIRS[kind]
    assert hash_of(one) == hash_of(one)
    assert hash_of(one) != hash_of(other)


def test_what_calls_change_is_no_part_of_a_function():
    seen = []

    def choose(observation):
        seen.append(observation)
        return 0

    before, player = hash_of(choose), Chooser(0)
    own = hash_of(player)
    seen.append(1)
    player.seen.append(1)
    assert (hash_of(choose), hash_of(player)) == (before, own)
    assert hash_of(chooser(0)) == hash_of(chooser(0))


def test_a_player_stays_who_it_is_while_it_plays():
    """Its function may count its calls, or learn; what it was made with is what tells it from others."""
    chosen, weights = Chooser(0), np.zeros(2)
    chosen.weights = weights
    player = Agent("f", FunctionPlayer(chosen, "planes"))
    before = content_hash(player)
    chosen.action += 1
    weights += 1
    assert content_hash(player) == before
    assert content_hash(Agent("f", FunctionPlayer(chosen, "planes"))) != before


async def waits(observation):
    return 0


@pytest.mark.parametrize("function", [3, waits])
def test_what_is_no_function_is_refused(function):
    with pytest.raises(InterplayError, match="no ordinary function"):
        FunctionPlayer(function, "planes")
