"""Egos with populations of their own: who meets whom, several methods in one program, states that others met."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents.api import Agent, Info, Policy
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training.algorithms import train
from interplay.training.algorithms.br import best_response, best_response_plan
from interplay.training.algorithms.coplay import deal_members
from interplay.training.collect import begin, collect
from interplay.training.compiled_stage import Program
from interplay.training.config import Algorithm
from interplay.training.frozen_partners import FrozenPartners
from interplay.training.method import Method
from interplay.training.reward_weights import equal_reward_weights
from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import PARTNER

LONG = 16 * 8 * 36


class Says(Policy):
    """Always names the same side."""

    side: jax.Array

    @property
    def encoding(self):
        return "nothing"

    def act(self, memory, obs, legal, key):
        return memory, self.side, Info(jnp.where(jnp.arange(3) == self.side, 0.0, -30.0))


def says(side):
    return Agent(f"says{side}", Says(jnp.int32(side)))


def test_every_run_has_its_own_partners(experiment):
    game = make("tests.training.toys:Match", horizon=4)
    partners = FrozenPartners.from_populations(game, [[says(0), says(0)], [says(1), says(1)]])
    assert partners.arrays.side.tolist() == [[0, 0], [1, 1]]
    assert partners.number == 2
    assert partners.select_runs([1]).arrays.side.tolist() == [[1, 1]]
    with pytest.raises(InterplayError, match="equally many partners; here they are 1, 2"):
        FrozenPartners.from_populations(game, [[says(0)], [says(0), says(1)]])
    noisy = FrozenPartners.from_agents(game, [says(0), _noisy(says(1))])
    assert noisy.arrays.epsilon.tolist() == [0.0, pytest.approx(0.3)]  # of one kind: without noise is a noise of 0


def _noisy(one):
    from interplay.agents.registry import with_noise

    return with_noise(one, "0.3", "noisy")


def test_members_are_dealt_in_order(experiment):
    class Kept:
        members = type("M", (), {"policy": jnp.array([[[1.0], [1.0], [jnp.nan], [1.0]]])})
        dead = ()

        def returns(self):
            return np.zeros((1, 4))

    kept = Kept()
    assert deal_members(kept, 2) == [[(0, 0), (0, 1)], [(0, 3)]]  # one has weights that are no numbers
    assert deal_members(kept, 2, shared=True) == [[(0, 0), (0, 1), (0, 3)]] * 2
    with pytest.raises(InterplayError, match="3 members for 5 runs"):
        deal_members(kept, 5)


@pytest.mark.slow
def test_several_methods_in_one_program(experiment, tmp_path):
    """Run by run: whose it is stands in its file, and its partners are those of its own method and seed."""
    common = {"population": 2, "population_steps": LONG // 2, "snapshots": 2}
    methods = {"fcp": common, "mep": common | {"population_envs": 8, "priority": 0.5}}
    given = experiment(
        algorithm=Algorithm("coplay", {"methods": methods, "met_states": 0.25, "tables": 4}),
        envs=20,
        ppo={"minibatches": 1},
        rollout=4,
        steps=20 * 4 * 36,
        network={"recurrent": 8, "critic": "central", "critic_knows_partner": True},
        output={"folder": str(tmp_path)},
    )
    trained = train(given, quiet=True)
    assert [(p["algorithm"], p["ego"], p["run"]) for p in trained.policies] == [
        ("fcp", 0, 0),
        ("fcp", 1, 1),
        ("mep", 0, 2),
        ("mep", 1, 3),
    ]
    assert (tmp_path / "fcp" / "population" / "manifest.json").exists()
    assert (tmp_path / "mep" / "population" / "manifest.json").exists()
    assert np.mean(trained.returns(2)) > 5
    with pytest.raises(InterplayError, match="methods: cole; of fcp, mep, trajedi, hsp"):
        train(experiment(algorithm=Algorithm("coplay", {"methods": {"cole": {}}})), quiet=True)


def test_episodes_that_begin_in_states_met_by_others(experiment):
    """In this toy a state is a cue and a time: the learner's resumed tables begin with those of partners' tables."""
    plan = best_response_plan(2, tables=4, met_states=0.25)
    assert plan.tables == ((0, PARTNER),) * 4 + ((PARTNER, PARTNER),)
    assert plan.start_from == (-1, -1, -1, 4, -1)
    assert plan.scored == (True, True, True, False, False)
    assert best_response_plan(2, 4) == plan.__class__(((0, PARTNER),) * 4, rotate=True)
    with pytest.raises(InterplayError, match="leaves none"):
        best_response_plan(2, 4, 1.0)
    with pytest.raises(InterplayError, match="from 0 to 1"):
        best_response_plan(2, 4, 2.0)
    given = experiment(envs=20, runs=1, ppo={"minibatches": 1}, steps=20 * 8)
    game = make("tests.training.toys:Match", horizon=4)
    partners = FrozenPartners.from_populations(game, [[says(0)]])
    setup = TrainingSetup.create(given, game, Method(plan), partners)
    program = Program(setup)
    run = jax.tree_util.tree_map(lambda x: x[0], program.start(None, partners.arrays))
    arrays = jax.tree_util.tree_map(lambda x: x[0], partners.arrays)
    one = jax.tree_util.tree_map(lambda x: x[0], run.members)
    traits = jax.tree_util.tree_map(lambda x: x[0], equal_reward_weights(game, given.rewards, 1, 1))
    after, *_ = collect(setup, run.members, traits, arrays, run.world, jnp.float32(0), jax.random.key(1))
    world = begin(setup, one, run.stats, arrays, jax.random.key(2), after.kept_states)
    kept = np.asarray(after.kept_states[0].time)
    assert set(np.asarray(world.state.time)[:12]) == {0}
    assert set(np.asarray(world.state.time)[12:16]) <= set(kept[16:])
    assert kept[16:].max() > 0
    assert set(np.asarray(world.state.time)[16:]) == {0}


@pytest.mark.slow
def test_training_goes_on_where_states_were_met(experiment):
    trained = best_response(
        experiment(steps=LONG, envs=20, rollout=4, ppo={"minibatches": 1}),
        [says(0), says(1)],
        tables=4,
        met_states=0.25,
        quiet=True,
    )
    assert np.mean(trained.returns(2)) == pytest.approx(6.0, abs=0.6)  # 4 of its own, half of the other's 4
