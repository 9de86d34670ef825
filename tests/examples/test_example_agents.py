"""The examples of one's own agent play, and the models among them are the policy they were made from."""

from pathlib import Path

import numpy as np
import pytest

import interplay
from interplay.agents import Agent
from interplay.errors import InterplayError
from interplay.trust import import_object

EXAMPLES = Path(__file__).parents[2] / "examples"
RING = "overcooked/coordination_ring"


@pytest.fixture(scope="module")
def game():
    return interplay.make(RING, horizon=12)


def example(name: str) -> Agent:
    return interplay.agent(f"{EXAMPLES / name}.py:agent")


@pytest.mark.parametrize("name", ["callable_agent", "onnx_agent"])
def test_an_example_plays_and_an_episode_can_be_had_again(name, game):
    if name == "onnx_agent":
        pytest.importorskip("onnxruntime", reason="the ONNX example needs onnx and onnxruntime")
    mine = example(name)
    first, again = (interplay.play(game, [mine, "stay"], episodes=2, seed=3) for _ in range(2))
    episode = first[0]
    assert np.array_equal(episode.actions, again[0].actions)
    assert len(set(episode.actions[:, 0].tolist())) > 1


def test_the_onnx_model_tells_what_the_policy_tells(tmp_path):
    pytest.importorskip("onnxruntime", reason="the ONNX example needs onnx and onnxruntime")
    policy = interplay.agent(f"trained/{RING}/hsp-1").policy.core  # type: ignore[union-attr]
    player = example("onnx_agent").policy
    for seed in range(3):
        seen = np.random.default_rng(seed).random(policy.shape.input[0], np.float32)
        seen[-6:] = 1  # all actions would change something
        _, logits = policy.step(policy.start(), seen)
        assert np.allclose(player.logits(seen), logits, atol=1e-4)  # type: ignore[union-attr]
    with pytest.raises(InterplayError, match="reads 167 numbers; this game's details are 5"):
        player.logits(np.zeros(5, np.float32))  # type: ignore[union-attr]


def test_the_torch_model_tells_what_the_policy_tells(game):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    policy = interplay.agent(f"trained/{RING}/hsp-1").policy.core  # type: ignore[union-attr]
    mine = example("torch_agent")
    seen = np.ones(policy.shape.input[0], np.float32)
    with torch.inference_mode():
        told = mine.policy.model(torch.from_numpy(seen)).numpy()  # type: ignore[union-attr]
    assert np.allclose(told, policy.step(policy.start(), seen)[1], atol=1e-4)
    interplay.play(game, [mine, "stay"], episodes=1)


def test_without_torch_the_example_says_what_to_do():
    try:
        import torch  # noqa: F401
    except ImportError:
        with pytest.raises(InterplayError, match="pip install torch"):
            example("torch_agent")


def test_a_callable_agent_is_asked_for_what_does_something():
    choose = import_object(f"{EXAMPLES / 'callable_agent.py'}:choose")
    legal, details = np.ones(6, bool), np.zeros(20, np.float32)
    details[-6:] = [0, 1, 0, 0, 0, 0]
    assert choose(details, legal) == 1
    details[-1] = 1
    assert choose(details, legal) == 5


def test_a_file_can_import_what_lies_beside_it(tmp_path):
    (tmp_path / "beside_it.py").write_text("ACTION = 4\n")
    (tmp_path / "mine.py").write_text("import beside_it\n\ndef answer():\n    return beside_it.ACTION\n")
    assert import_object(f"{tmp_path}/mine.py:answer")() == 4
    with pytest.raises(InterplayError, match="no such file"):
        import_object(f"{tmp_path}/gone.py:answer")
    with pytest.raises(InterplayError, match="has no 'other'"):
        import_object(f"{tmp_path}/mine.py:other")
    (tmp_path / "lacking.py").write_text("import no_such_module_anywhere\n")
    with pytest.raises(InterplayError, match="no_such_module_anywhere"):
        import_object(f"{tmp_path}/lacking.py:answer")
