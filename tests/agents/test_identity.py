"""Who an agent is does not depend on where its code lies or what its classes and fields are called."""

import dataclasses
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp

import interplay
from interplay.agents.api import Agent, FunctionPlayer, Info, Policy
from interplay.agents.basic import Noisy, Random
from interplay.agents.identity import content_hash
from interplay.agents.networks import Core, Shape
from interplay.agents.neural import NeuralPolicy


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
