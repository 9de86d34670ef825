"""A real Ray cluster of several nodes on this machine: the results of `local`, also when a node is lost."""

import json
import threading
import time

import pytest

import interplay
from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.partners.panel_file import read_panel
from interplay.rollout.ray_engine import RayEngine
from interplay.training.sweep import train_all, variants

pytestmark = pytest.mark.slow
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    workers = [made.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False)
    made.wait_for_nodes()
    yield made, workers
    ray.shutdown()
    made.shutdown()


def contents(folder):
    """The bytes of every part, and the manifest but for the time at which it was written."""
    manifest = json.loads((folder / "manifest.json").read_text())
    return sorted(f.read_bytes() for f in folder.rglob("*.parquet")), manifest.get("meta")


def test_traces_and_measurements_are_those_of_local(cluster, tmp_path):
    agents = ["random", "stay", "overcooked/greedy"]
    for engine in ("local", "ray"):
        interplay.crossplay("overcooked/cramped_room", agents, episodes=4, out=tmp_path / engine, engine=engine)
    assert contents(tmp_path / "local") == contents(tmp_path / "ray")
    tables = [interplay.measure(tmp_path / "ray", ["score", "events"], engine=e).rows for e in ("local", "ray")]
    assert tables[0] == tables[1]


def test_what_a_player_raises_is_what_the_caller_sees(cluster):
    def wrong(planes, legal):
        return 99

    mine = interplay.Agent("mine", interplay.FunctionPlayer(wrong, encoding="planes"))
    with pytest.raises(InterplayError, match="action 99"):
        interplay.play("overcooked/cramped_room", [mine, "stay"], episodes=1, engine="ray")


def slow_square(number):
    time.sleep(0.5)
    return number * number


def test_a_lost_node_loses_nothing(cluster):
    made, workers = cluster
    threading.Timer(2.0, lambda: made.remove_node(workers[0], allow_graceful=False)).start()
    assert list(RayEngine().map(slow_square, range(16))) == [n * n for n in range(16)]


def test_a_sweep_trains_the_policies_of_local(cluster, tmp_path):
    config = {
        "game": {"name": "overcooked/cramped_room", "options": {"horizon": 8}},
        "steps": 64, "envs": 4, "rollout": 8,
        "network": {"encoding": "features", "trunk": "mlp", "widths": [8]}, "ppo": {"minibatches": 1},
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    files = []
    for engine in ("local", "ray"):
        made = variants(tmp_path / "config.json", ["seed=1,2"], tmp_path / engine)
        assert [row["seed"] for row in train_all(made, engine, quiet=True)] == [1, 2]
        folder = tmp_path / engine
        files.append({p.relative_to(folder): p.read_bytes() for p in folder.glob("*/policies/*.safetensors")})
    assert len(files[0]) == 2
    assert files[0] == files[1]


def test_panels_of_several_games_are_those_of_local(cluster, tmp_path):
    config = {
        "game": {"name": "overcooked/cramped_room", "options": {"horizon": 20}},
        "partners": ["overcooked/greedy"], "kind": "scripted", "scripted": False, "least_return": -1.0,
        "response_steps": 160, "closing_rounds": 0, "trial_episodes": 2, "ruler_episodes": 2,
        "training": {
            "envs": 4, "rollout": 20, "network": {"encoding": "features", "widths": [8]}, "ppo": {"minibatches": 1},
        },
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    games = ["overcooked/cramped_room", "overcooked/coordination_ring"]
    for engine in ("local", "ray"):
        given = ["--config", str(tmp_path / "config.json"), "--out", str(tmp_path / engine), "--engine", engine]
        assert run(["partners", "build", *games, *given]) == 0
    for game in games:
        local, elsewhere = (read_panel(tmp_path / e / game.replace("/", "_") / "panel") for e in ("local", "ray"))
        assert [m.responses[0].worth for m in local.members] == [m.responses[0].worth for m in elsewhere.members]
        assert [m.responses[0].agent.config for m in local.members] == [
            m.responses[0].agent.config for m in elsewhere.members
        ]
