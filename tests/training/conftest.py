import pytest

from interplay.training.config import PPO, Experiment, GameChoice, Network, Output
from interplay.training.method import Method
from interplay.training.team_assignment import TeamPlan

NETWORK = {"encoding": "vector", "widths": (16,)}
PLAIN = {"learning_rate": ((0.0, 1e-2),), "minibatches": 2, "epochs": 2, "gamma": 0.9}


def small(game="Match", *, network=None, ppo=None, output=None, horizon=4, **changes):
    """An experiment in a toy game, small enough for a test."""
    settings = {"envs": 16, "rollout": 8, "runs": 2, "steps": 16 * 8 * 36} | changes
    return Experiment(
        GameChoice(f"tests.training.toys:{game}", {"horizon": horizon}),
        network=Network(**NETWORK | (network or {})),
        ppo=PPO(**PLAIN | (ppo or {})),
        output=Output(**{"logs": 6, "checkpoints": 3} | (output or {})),
        **settings,
    )


@pytest.fixture
def experiment():
    return small


@pytest.fixture
def self_play():
    return Method(TeamPlan(((0, 0),)))
