"""Coordination methods, end to end on toy games."""

import numpy as np
import pytest

from interplay.agents.api import Agent
from interplay.agents.basic import Random
from interplay.errors import InterplayError
from interplay.training.algorithms import ALGORITHMS, train
from interplay.training.algorithms.br import best_response
from interplay.training.algorithms.hsp import draw
from interplay.training.config import Algorithm
from interplay.training.saved_stages import load_stage

LONG = 16 * 8 * 36  # as all other tests, so that programs are shared


@pytest.mark.slow
def test_a_pair_follows_its_two_rewards(experiment, tmp_path):
    """Run 0 prefers to be wrong, run 1 to be right; their partners want points."""
    preferences = [{"wrong": 3.0, "task": 0.0}, {"right": 3.0}]
    algorithm = Algorithm("hsp_pairs", {"preferences": preferences})
    trained = train(experiment(algorithm=algorithm, steps=LONG, output={"folder": str(tmp_path)}), quiet=True)
    returns = trained.returns(2)
    assert returns.shape == (2, 2)
    assert returns[0, 0] < 4.8  # only the partner scores: 4 of 8
    assert returns[1, 0] > 7.2
    with pytest.raises(InterplayError, match="each run trains one pair"):
        train(experiment(algorithm=Algorithm("hsp_pairs", {"preferences": preferences[:1]})), quiet=True)
    right = [str(tmp_path / p["file"]) for p in trained.policies if p["run"] == 1]
    begun = Algorithm("hsp_pairs", {"preferences": preferences, "start_from": right})
    assert (
        (train(experiment(algorithm=begun, steps=LONG), quiet=True).curve[0]["return"]) > 6
    )  # they know what is right


def test_pairs_begin_as_one_agent_a_run(experiment):
    options = {"preferences": [{"right": 1.0}, {"wrong": 1.0}], "start_from": ["random"]}
    with pytest.raises(InterplayError, match="start_from: 1 agents for 2 runs"):
        train(experiment(algorithm=Algorithm("hsp_pairs", options)), quiet=True)


def test_drawn_preferences_are_different_and_few():
    from interplay.games.registry import make
    from interplay.training.algorithms.hsp import HSPOptions

    game = make("overcooked/coordination_ring")
    choices = {"pickup_onion_from_O": [-20, 0, 10], "SOUP_PICKUP": [0, 5], "delivery": [-20, 0], "STAY": [-0.1, 0, 0.1]}
    options = HSPOptions(choices=choices | {"task": [0.1, 1]}, at_most=2, split="all")
    found = draw(game, options, 20, seed=0)
    assert len({tuple(sorted(p.items())) for p in found}) == 20
    assert all(sum(e != "task" for e in p) <= 2 and "task" in p for p in found)
    assert found == draw(game, options, 20, seed=0)


@pytest.mark.slow
def test_fictitious_co_play_meets_three_skills(experiment, tmp_path):
    options = {"population": 2, "population_steps": LONG, "snapshots": 3}
    given = experiment(
        algorithm=Algorithm("fcp", options),
        steps=LONG,
        network={"critic": "central", "critic_knows_partner": True},
        output={"folder": str(tmp_path)},
        rollout=4,
    )
    trained = train(given, quiet=True)
    population = load_stage(tmp_path)
    assert population.experiment.runs == 4  # two for each of two egos
    assert [p["members"] for p in trained.policies] == [[0, 1], [2, 3]]
    assert len(trained.policies) == 2
    # The ego is right in 4 of 8; of its partners a third is right by chance and the others nearly always.
    assert 5.5 < np.mean(trained.returns(2)) <= 8
    assert {p["algorithm"] for p in trained.policies} == {"fcp"}


@pytest.mark.slow
def test_best_response_to_any_policy(experiment):
    trained = best_response(experiment(steps=LONG), [[Agent("random", Random())]] * 2, quiet=True)
    assert np.mean(trained.returns(2)) == pytest.approx(6.0, abs=0.5)  # 4 of its own, half of the other's 4


def test_partners_of_two_kinds_are_refused(experiment):
    from interplay.agents.basic import Stay

    with pytest.raises(InterplayError, match="must be of one kind; 'random' and 'stay' are not"):
        best_response(experiment(), [Agent("random", Random()), Agent("stay", Stay())], quiet=True)


@pytest.mark.slow
def test_a_population_is_paid_for_being_different(experiment):
    """With nothing else to earn, the bonus pulls members apart: they act unlike each other."""
    from interplay.training.config import Rewards

    options = {"population": 2, "population_steps": LONG, "population_envs": 16, "entropy_weight": 1.0}
    given = experiment(algorithm=Algorithm("mep_population", options), runs=1, rewards=Rewards(task=0.0))
    trained = train(given, quiet=True)
    assert trained.returns().shape == (1, 2)
    assert trained.curve[-1]["reward"] > np.log(2) - 0.02  # -log of a mean probability of a half


def test_every_algorithm_loads():
    for name in ALGORITHMS.names():
        assert callable(ALGORITHMS.load(name))
