"""Files of JaxMARL and jax-aht, written by flax and Orbax, play as the framework's own networks do."""

from __future__ import annotations

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.foreign.layers import apply
from interplay.agents.foreign.observations import jaxmarl_planes
from interplay.errors import InterplayError
from tests.foreign import networks

pytestmark = pytest.mark.foreign
KEY = jax.random.key(0)
KITCHEN = interplay.make("overcooked/cramped_room", horizon=30)
WIDTH, HEIGHT, PLANES = KITCHEN.encodings["planes"].shape
FEED_FORWARD = {
    "ippo_cnn_overcooked": (networks.ActorCriticCNN(), (HEIGHT, WIDTH, PLANES)),
    "ippo_ff_overcooked": (networks.ActorCritic(), (HEIGHT * WIDTH * PLANES,)),
    "pqn_vdn_cnn_overcooked": (networks.QNetworkCNN(), (HEIGHT, WIDTH, PLANES)),
    "ippo_ff_hanabi": (networks.HanabiActorCritic(), (658,)),
}
RECURRENT = {
    "ippo_rnn_overcooked_v2": (networks.ActorCriticCNNRNN(), (HEIGHT, WIDTH, PLANES)),
    "ippo_rnn_hanabi": (networks.ActorCriticRNN(21), (658,)),
    "vdn_rnn": (networks.QNetworkRNN(21), (658,)),
}


def logits_of(output):
    output = output[0] if isinstance(output, tuple) else output
    return np.asarray(getattr(output, "logits", output)).reshape(-1)


def random_params(network, *args):
    """Parameters with biases, which flax starts at 0 and a forgotten bias would not be noticed by."""
    params = network.init(jax.random.key(1), *args)
    leaves, tree = jax.tree_util.tree_flatten(params)
    keys = jax.random.split(jax.random.key(2), len(leaves))
    leaves = [leaf + 0.1 * jax.random.normal(k, leaf.shape) for leaf, k in zip(leaves, keys, strict=True)]
    return jax.tree_util.tree_unflatten(tree, leaves)


def write_safetensors(path, params):
    """As JaxMARL's `save_params`: a flat dictionary whose keys are joined by commas."""
    from flax.traverse_util import flatten_dict
    from safetensors.flax import save_file

    save_file({k: jnp.asarray(v) for k, v in flatten_dict(params, sep=",").items()}, path)


def write_pickle(path, params):
    path.write_bytes(pickle.dumps(params))


@pytest.mark.parametrize("name", FEED_FORWARD)
@pytest.mark.parametrize("form", ["safetensors", "pkl"])
def test_a_feed_forward_network_gives_the_framework_s_logits(name, form, tmp_path):
    network, shape = FEED_FORWARD[name]
    obs = jax.random.uniform(jax.random.key(3), shape)
    params = random_params(network, obs[None])
    path = tmp_path / f"{name}.{form}"
    (write_safetensors if form == "safetensors" else write_pickle)(path, params)
    encoding = {} if form == "pkl" or "overcooked" in name else {"encoding": "belief"}
    policy = interplay.agent(str(path), **encoding).policy
    _, ours = apply(policy.layers, policy.weights, (), obs)
    np.testing.assert_allclose(ours, logits_of(network.apply(params, obs[None])), rtol=1e-4, atol=1e-5)
    assert bool(policy.greedy) == name.startswith("pqn")


@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_network_remembers_as_the_framework_s_does(name, tmp_path):
    network, shape = RECURRENT[name]
    steps = jax.random.uniform(jax.random.key(3), (5, 1, *shape))
    hidden, dones = jnp.zeros((1, 16)), jnp.zeros((5, 1), bool)
    params = random_params(network, hidden, (steps[:1], dones[:1]))
    path = tmp_path / f"{name}.pkl"
    write_pickle(path, params)
    policy = interplay.agent(str(path)).policy
    _, theirs, *_ = network.apply(params, hidden, (steps, dones))
    theirs = np.asarray(getattr(theirs, "logits", theirs))[:, 0]
    memory = policy.init(KEY, 0)
    for step, expected in zip(steps[:, 0], theirs, strict=True):
        memory, ours = apply(policy.layers, policy.weights, memory, step)
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)


def test_jaxmarl_s_own_kitchen_shows_what_the_view_shows():
    """The same joint actions in JaxMARL's cramped room and ours, observation by observation."""
    from jaxmarl.environments.overcooked import Overcooked, overcooked_layouts

    theirs = Overcooked(layout=overcooked_layouts["cramped_room"], max_steps=60)
    obs, state = theirs.reset(jax.random.key(0))
    ours = interplay.make("overcooked/cramped_room", horizon=60)
    start = ours.init(
        KEY, positions=np.asarray(state.agent_pos, np.int32), facing=np.asarray(state.agent_dir_idx, np.int32)
    )
    rng = np.random.default_rng(0)
    step = jax.jit(theirs.step_env)
    for _ in range(55):
        seen = ours.observe(start, "planes")
        for seat in range(2):
            np.testing.assert_array_equal(jaxmarl_planes(seen[seat]), obs[f"agent_{seat}"])
        actions = rng.choice(6, size=2, p=[0.15, 0.15, 0.15, 0.15, 0.05, 0.35])
        obs, state, *_ = step(KEY, state, {"agent_0": actions[0], "agent_1": actions[1]})
        start, _ = ours.step(start, actions)


def test_an_orbax_folder_of_a_whole_run(tmp_path):
    """jax-aht keeps seeds and checkpoints of a run in one folder; one of them is chosen by member."""
    import orbax.checkpoint as ocp

    network = networks.ActorCriticRNN(6, "tanh")
    size = HEIGHT * WIDTH * PLANES
    steps, hidden, dones = jnp.zeros((1, 1, size)), jnp.zeros((1, 16)), jnp.zeros((1, 1), bool)
    params = random_params(network, hidden, (steps, dones))
    seeds = [[params, params, params], [jax.tree_util.tree_map(lambda x, c=c: x + c, params) for c in range(3)]]
    one_seed = [jax.tree_util.tree_map(lambda *x: jnp.stack(x), *checkpoints) for checkpoints in seeds]
    many = jax.tree_util.tree_map(lambda *x: jnp.stack(x), *one_seed)
    folder = tmp_path / "saved_train_run"
    ocp.PyTreeCheckpointer().save(folder, {"checkpoints": many, "metrics": {"returns": jnp.zeros((2, 3))}})
    with pytest.raises(InterplayError, match=r"holds 2 x 3 networks; choose one with member=0, 0"):
        interplay.agent(str(folder))
    agent = interplay.agent(str(folder), member=(1, -1))
    chosen = jax.tree_util.tree_map(lambda x: x[1, -1], many)
    kernel = np.asarray(chosen["params"]["Dense_0"]["kernel"])
    np.testing.assert_allclose(agent.policy.weights["Dense_0.kernel"], kernel)
    assert [one.kind for one in agent.policy.layers] == ["dense", "tanh", "gru", "dense", "tanh", "dense"]


def test_it_plays_in_our_kitchen_and_in_jaxmarl_s(tmp_path):
    from interplay.games.interop.jaxmarl import load_jaxmarl

    network, shape = FEED_FORWARD["ippo_cnn_overcooked"]
    path = tmp_path / "cramped.safetensors"
    write_safetensors(path, random_params(network, jnp.zeros((1, *shape))))
    traces = interplay.play(KITCHEN, [str(path), "overcooked/greedy"], episodes=1, seed=0)
    assert len(traces) == 1
    assert interplay.agent(str(path)).policy.bind(KITCHEN).encoding == "planes"
    theirs = load_jaxmarl("overcooked")
    assert interplay.agent(str(path)).policy.bind(theirs).encoding == "obs"
