"""Hostile and broken files of other frameworks end in a clear error, and nothing in them is run."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest

import interplay
from interplay.agents.foreign import array_files, flax_networks
from interplay.agents.foreign.observations import planes_without_done, two_seat_planes_of_2019
from interplay.errors import InterplayError


class Payload:
    def __reduce__(self):
        return (os.system, ("touch /tmp/interplay_was_run",))


class Getter:
    def __reduce__(self):
        return (getattr, ("text", "upper"))


def network(inputs: int = 26 * 20) -> dict:
    rng = np.random.default_rng(0)
    sizes = [(inputs, 4), (4, 4), (4, 6), (inputs, 4), (4, 4), (4, 1)]
    layers = {f"Dense_{n}": {"kernel": rng.normal(size=s), "bias": rng.normal(size=s[1])} for n, s in enumerate(sizes)}
    return {"params": layers}


def torch_archive(path, data: bytes, **storages: bytes) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", data)
        for key, values in storages.items():
            archive.writestr(f"archive/data/{key}", values)
    return str(path)


@pytest.mark.parametrize("thing", [Payload(), Getter(), {"params": {"a": Payload()}}, [np.load]])
@pytest.mark.parametrize("form", ["pkl", "pt"])
def test_a_pickle_that_names_anything_but_arrays_is_refused(thing, form, tmp_path):
    path = tmp_path / f"agent.{form}"
    data = pickle.dumps(thing)
    path.write_bytes(data) if form == "pkl" else torch_archive(path, data)
    with pytest.raises(InterplayError, match="which no file of weights needs"):
        interplay.agent(str(path))
    assert not os.path.exists("/tmp/interplay_was_run")


def test_arrays_of_objects_are_refused(tmp_path):
    path = tmp_path / "agent.pkl"
    path.write_bytes(pickle.dumps({"params": {"Dense_0": {"kernel": np.array([Payload()], object)}}}))
    with pytest.raises(InterplayError, match=r"was not read"):
        interplay.agent(str(path))


@pytest.mark.parametrize("name", ["agent.pkl", "agent.pt", "agent.onnx"])
@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x80\x05", bytes(range(256)) * 4])
def test_broken_files_are_told_apart(name, data, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InterplayError, match=str(path).replace(".", r"\.")):
        interplay.agent(str(path))


def test_a_tensor_beyond_its_storage_is_refused(tmp_path):
    """A made-up pickle in torch's form: 8 numbers are claimed, 2 are there."""
    buffer = io.BytesIO()
    writer = pickle._Pickler(buffer, protocol=2)
    writer.persistent_id = lambda thing: ("storage", thing.kind, "0", "cpu", 2) if isinstance(thing, Claim) else None
    writer.dump(Tensor())
    data = buffer.getvalue().replace(b"interplay_kind", b"interplay_kind")
    with pytest.raises(InterplayError, match="was not read"):
        array_files.read_torch(torch_archive(tmp_path / "a.pt", data, **{"0": struct.pack("<2f", 1, 2)}))


class Claim:
    kind = "nonsense"


class Tensor:
    def __reduce__(self):
        return (dict, ((("a", Claim()),),))


def test_an_archive_that_would_explode_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}))
        archive.writestr("archive/data/0", b"\0" * (64 << 20))
    with pytest.raises(InterplayError, match="would expand"):
        interplay.agent(str(path))


def test_a_network_of_another_kind_says_what_it_lacks(tmp_path):
    path = tmp_path / "agent.pkl"
    path.write_bytes(pickle.dumps({"weights": np.zeros(3)}))
    with pytest.raises(InterplayError, match="holds no network of flax's layers"):
        interplay.agent(str(path))
    lacking = network()
    del lacking["params"]["Dense_1"]["bias"]
    path.write_bytes(pickle.dumps(lacking))
    with pytest.raises(InterplayError, match="lacks Dense_1,bias"):
        interplay.agent(str(path))
    broken = network()
    broken["params"]["Dense_0"]["kernel"][0, 0] = np.nan
    path.write_bytes(pickle.dumps(broken))
    with pytest.raises(InterplayError, match="does not hold finite numbers"):
        interplay.agent(str(path))
    with pytest.raises(InterplayError, match="option"):
        interplay.agent(str(path), unstuck=3)


def test_a_file_plays_by_its_path_alone(tmp_path):
    game = interplay.make("overcooked/cramped_room", horizon=10)
    path = tmp_path / "chef.pkl"
    path.write_bytes(pickle.dumps(network(int(np.prod(game.encodings["planes"].shape)))))
    assert len(interplay.play(game, [str(path), f"greedy:{path}"], episodes=1, seed=0)) == 1
    assert interplay.agent(str(path)).policy.layers[1].kind == "tanh"
    assert interplay.agent(str(path), activation="relu").policy.layers[1].kind == "relu"
    with pytest.raises(InterplayError, match="fits no such encoding of overcooked/coordination_ring"):
        interplay.play(interplay.make("overcooked/coordination_ring"), [str(path), "stay"], episodes=1)
    with pytest.raises(InterplayError, match="knows 6 actions"):
        interplay.agent(str(path)).policy.bind(interplay.make("hanabi/2p"))


def test_a_file_of_several_networks_asks_which(tmp_path):
    one = network(40)["params"]
    many = {n: {k: np.stack([v, v + 1]) for k, v in layer.items()} for n, layer in one.items()}
    with pytest.raises(InterplayError, match="holds 2 networks; choose one with member=0"):
        flax_networks.policy({"params": many}, "file")
    second = flax_networks.policy({"params": many}, "file", member=1)
    np.testing.assert_allclose(second.weights["Dense_0.bias"], one["Dense_0"]["bias"] + 1, rtol=1e-6)


def test_views_have_the_planes_that_their_names_say():
    planes = interplay.make("overcooked/cramped_room").observe
    game = interplay.make("overcooked/cramped_room")
    seen = planes(game.init(None), "planes")[0]
    assert two_seat_planes_of_2019(seen).shape[-1] == 20
    assert planes_without_done(seen).shape[-1] == 25
