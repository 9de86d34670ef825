"""Data never runs code: every reader meets hostile files, and answers with a clear error."""

import io
import json
import os
import pickle
import tarfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from safetensors.numpy import save_file

import interplay
from interplay import trust, untrusted_files
from interplay.agents import neural
from interplay.agents.hanabi import pretrained
from interplay.agents.llm.limits import Prices
from interplay.agents.llm.response_cache import ResponseCache
from interplay.agents.registry import recorded_agent
from interplay.challenge import spec as challenge_spec
from interplay.challenge import verify_result as challenge_check
from interplay.challenge.client import Candidate
from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.games.registry import make, make_recorded
from interplay.metrics.brprox.rows import read_rows
from interplay.metrics.communication.foreign import read_transcripts
from interplay.partners import features, panel_file
from interplay.rollout import recorded_games as recorded
from interplay.server.examples import CHALLENGES
from interplay.study.analysis.sources import read_measures
from interplay.study.export.files import read_folder
from interplay.study.live import partner_engines as staging
from interplay.study.protocol import reading
from interplay.traces import TraceSet, read_jsonl, verify, write_jsonl
from interplay.traces.export import to_record
from interplay.traces.importers.pickled_tables import read_frame
from interplay.traces.schema import TABLES
from interplay.training import checkpoint, loader, saved_stages
from interplay.training.config import Experiment
from tests.partners.panel_helpers import game_of, panel_of
from tests.trust import hostile


@pytest.fixture(scope="module")
def episodes():
    traces = interplay.play("overcooked/cramped_room", ["stay", "stay"], episodes=2, seed=0)
    return [replace(e, actions=e.actions[:0], check_steps=e.check_steps[:1], checks=e.checks[:1]) for e in traces]


@pytest.fixture
def outside(tmp_path):
    """A file that no reader of a folder beside it may reach, and a module that would tell if it ran."""
    (tmp_path / "outside.json").write_text('{"secret": "do not read"}')
    return tmp_path / "outside.json"


@pytest.fixture
def refused(tmp_path):
    """Assert that a call ends in an InterplayError for people, and does nothing else."""

    def check(what, call, *arguments):
        with hostile.watched(tmp_path), pytest.raises(InterplayError) as caught:
            raise AssertionError(f"{what!r:.100} was read: {call(*arguments)!r:.300}")
        assert 0 < len(str(caught.value)) < 20_000, what
        assert "do not read" not in str(caught.value), what

    return check


# --- names


@pytest.mark.parametrize("name", hostile.NAMES, ids=lambda n: repr(n)[:30])
def test_a_game_of_data_is_a_registered_one(name, refused):
    refused(name, make_recorded, name, {"command": "touch HERE"})
    refused(name, make_recorded, name, {})


@pytest.mark.parametrize("options", hostile.OPTIONS, ids=lambda o: repr(o)[:30])
@pytest.mark.parametrize("game", ["overcooked/cramped_room", "hanabi/2p", "rescue/cottage", "kitchen/original"])
def test_options_of_data_fit_the_game(game, options, refused):
    if options == {"horizon": "400"} or (game == "hanabi/2p" and isinstance(options, dict)):
        pass  # no option of this game, or not of its type
    refused(options, make_recorded, game, options)


@pytest.mark.parametrize("name", ["hanabi/2p", "overcooked/cramped_room"])
def test_a_wrapped_environment_takes_plain_options_only(name, refused):
    pytest.importorskip("jaxmarl")
    for kwargs in ({"layout": {"a": 1}}, {"layout": "no such"}, {"nonsense": 1}, [], "x", {"layout": [[1]]}):
        refused(kwargs, make_recorded, "jaxmarl/overcooked", {"env_kwargs": kwargs})


def test_an_agent_of_data_is_a_registered_one(refused, tmp_path):
    module = tmp_path / "evil.py"
    module.write_text("raise SystemExit('ran')\n")
    wanted = [*hostile.NAMES, f"{module}:thing", "llm:openai/gpt-4o", "llm:os:system", "sparta:os:system", str(module)]
    for name in [*wanted, "greedy:os:system", "trained/../../../etc/passwd", "random+nan", "random+9"]:
        refused(name, recorded_agent, name)
    assert recorded_agent("overcooked/greedy+0.1").name == "overcooked/greedy+0.1"


def test_registered_names_alone_resolve_until_a_person_types_one(tmp_path, monkeypatch):
    module = tmp_path / "mine.py"
    module.write_text("import pathlib\nran = pathlib.Path(__file__).with_name('ran')\nran.touch()\nthing = dict\n")
    reference = f"{module}:thing"
    monkeypatch.setattr(trust, "_admitted", set())
    with pytest.raises(trust.UntrustedName, match="--trust"):
        trust.resolve(reference)
    assert not (tmp_path / "ran").exists()
    before = trust.trust_data()
    try:
        with pytest.warns(trust.TrustWarning, match="mine.py:thing"):
            assert trust.resolve(reference) is dict
    finally:
        trust.trust_data(before)
    trust.admit([f"setting=greedy:{reference}+0.1", None, 3])
    assert trust.resolve(reference) is dict


def test_one_module_alone_imports_by_name():
    """`importlib` is used for names by `trust` alone, and pickles are read by two restricted readers."""
    source = Path(interplay.__file__).parent
    importing, loading = set(), set()
    for path in source.rglob("*.py"):
        text = path.read_text()
        name = path.relative_to(source).as_posix()
        if any(w in text for w in ("import_module(", "spec_from_file_location(", "__import__(")):
            importing.add(name)
        if any(w in text for w in ("pickle.load", "pickle.dump", "Unpickler", "allow_pickle=True", "yaml.load(")):
            loading.add(name)
    assert importing == {"__init__.py", "trust.py"}  # the package imports its own public names when they are used
    assert loading == {"agents/foreign/array_files.py", "traces/importers/pickled_tables.py"}


# --- traces


def written(folder, episodes):
    traces = TraceSet.create(folder)
    traces.append(episodes)
    return traces


def rewritten(file, changes):
    """A table of a part with other values in some columns."""
    columns = ", ".join(f"{changes.get(c, chr(34) + c + chr(34))} AS {chr(34)}{c}{chr(34)}" for c in TABLES[file.stem])
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE held AS SELECT {columns} FROM '{file}'")
        con.execute(f"COPY held TO '{file}' (FORMAT parquet)")


ATTACK = {"game": "'os:system'", "options": 'CAST(\'{"command": "touch HERE"}\' AS JSON)'}


def test_commands_do_not_run_what_a_trace_names(episodes, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "set", episodes)
    attack = {**ATTACK, "options": f'CAST(\'{{"command": "touch {tmp_path}/ran"}}\' AS JSON)'}
    rewritten(tmp_path / "set" / "part-000000" / "episodes.parquet", attack)
    commands = (
        ["replay", "set", "--verify"],
        ["replay", "set", "--episode", "0"],
        ["measure", "set"],
        ["measure", "set", "--metrics", "interdependence", "score", "events"],
        ["report", "set", "--out", "report.html"],
        ["export", "set", "--to", "recorded", "--out", "games.npz"],
    )
    for command in commands:
        code = run(command)
        said = capsys.readouterr()
        assert not (tmp_path / "ran").exists(), command
        if command[0] != "export":
            assert code in (1, 2), (command, said)
            assert "os:system" in said.out + said.err, command
    assert run(["measure", "set", "--trust"]) == 2  # os.system gives no game, but it was allowed to run
    assert "warning: running code that the data names: os:system" in capsys.readouterr().err
    assert (tmp_path / "ran").exists()


def test_a_challenge_result_does_not_run_what_its_traces_name(episodes, tmp_path, refused, monkeypatch):
    record = to_record(replace(episodes[0], game_id="os:system", options={"command": f"touch {tmp_path}/ran"}), 0)
    (tmp_path / "traces.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "result.json").write_text(json.dumps({"content": {}, "signature": {"public_key": "x"}}))
    content = {"format": "interplay-challenge-result", "games": [], "games_sha256": "", "settings": []}
    monkeypatch.setattr(challenge_check, "verify", lambda signed, public: content)
    monkeypatch.setattr(challenge_check, "fingerprint", lambda key: "somebody")
    rows = challenge_check.check(tmp_path / "result.json", traces=tmp_path / "traces.jsonl")
    assert "names code" in next(r["found"] for r in rows if r["checked"] == "replay")
    assert not (tmp_path / "ran").exists()


COLUMNS = {
    "no game": {"game": "NULL"},
    "no length": {"length": "NULL"},
    "a negative length": {"length": "-1"},
    "a length of millions": {"length": "2000000000"},
    "no agents": {"agents": "CAST([] AS VARCHAR[])"},
    "agents that are null": {"agents": "CAST([NULL, NULL] AS VARCHAR[])"},
    "too many agents": {"agents": "[CAST(x AS VARCHAR) for x in range(5000)]"},
    "no rewards": {"rewards": "CAST([] AS DOUBLE[])"},
    "options that are a list": {"options": "CAST('[1]' AS JSON)"},
    "configs that are an object": {"configs": "CAST('{}' AS JSON)"},
    "configs of numbers": {"configs": "CAST('[1, 2]' AS JSON)"},
    "a start that is a list": {"start": "CAST('[]' AS JSON)"},
    "a start of objects": {"start": 'CAST(\'{"x": {"dtype": "O", "shape": [1], "data": [1]}}\' AS JSON)'},
    "a start of long words": {"start": 'CAST(\'{"x": {"dtype": "U900000000", "shape": [1], "data": ["a"]}}\' AS JSON)'},
    "a start of a huge shape": {"start": 'CAST(\'{"x": {"dtype": "i4", "shape": [999999999], "data": [1]}}\' AS JSON)'},
    "a start of nested data": {"start": 'CAST(\'{"x": {"dtype": "i4", "shape": [1], "data": [[1]]}}\' AS JSON)'},
    "deep options": {"options": "CAST('{\"a\":' || repeat('[', 500) || repeat(']', 500) || '}' AS JSON)"},
    "an episode number of null": {"episode": "NULL"},
}


@pytest.mark.parametrize("case", COLUMNS)
def test_tables_of_a_trace_set_are_checked(case, episodes, tmp_path, refused):
    written(tmp_path / "set", episodes)
    rewritten(tmp_path / "set" / "part-000000" / "episodes.parquet", COLUMNS[case])
    refused(case, lambda: list(TraceSet.open(tmp_path / "set")))


def test_a_table_that_claims_billions_of_rows_is_not_fetched(episodes, tmp_path, refused):
    written(tmp_path / "set", episodes)
    file = tmp_path / "set" / "part-000000" / "actions.parquet"
    rows = "SELECT 0::BIGINT AS episode, 0::INTEGER AS t, 0::SMALLINT AS seat, 0::SMALLINT AS action"
    with duckdb.connect() as con:
        con.execute(f"COPY ({rows} FROM range(101000000)) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")
    assert file.stat().st_size < 100_000_000
    refused("a bomb", lambda: list(TraceSet.open(tmp_path / "set")))


def test_a_start_that_is_not_the_games_is_an_error(episodes, tmp_path, refused):
    for start in ({"deck": np.zeros(3)}, {"positions": np.zeros((5, 2)), "facing": np.zeros(5)}, {}):
        wrong = replace(episodes[0], start=start)
        assert not verify(TraceSet.in_memory([wrong])).ok or start == {}
        if start:
            refused(start, lambda wrong=wrong: interplay.measure(TraceSet.in_memory([wrong]), ["events"]))


def test_the_folder_of_a_trace_set_holds_regular_files(episodes, tmp_path, refused, outside):
    written(tmp_path / "set", episodes)

    def read():
        return list(TraceSet.open(tmp_path / "set"))

    for what, call in hostile.each_json(tmp_path / "set" / "manifest.json", read):
        refused(what, call)
    for what, call in hostile.in_place_of(tmp_path / "set" / "manifest.json", read, outside):
        refused(what, call)
    again = tmp_path / "again"
    written(again, episodes)
    for what, call in hostile.in_place_of(
        again / "part-000000" / "events.parquet", lambda: list(TraceSet.open(again)), outside
    ):
        refused(what, call)
    (again / "part-000000").rename(tmp_path / "elsewhere")
    (again / "part-000000").symlink_to(tmp_path / "elsewhere")
    refused("a part elsewhere", lambda: list(TraceSet.open(again)))


def test_json_lines(episodes, tmp_path, refused):
    path = tmp_path / "traces.jsonl"
    for what, call in hostile.each_json(path, lambda: list(read_jsonl(path)) or _nothing()):
        refused(what, call)
    write_jsonl(TraceSet.in_memory(episodes[:1]), path)
    record = json.loads(path.read_text())
    changes = {
        "game": [None, 7, []], "options": [[], "x", None], "agents": [None, 3, [1], [{"x": 1}], [{"name": "a"}] * 3],
        "actions": [None, "x", [["a"]], [[1e99]]], "checksums": [None, [[1]], "x"], "rewards": [None, ["x"]],
        "start": [None, [], {"a": 1}, {"a": {"dtype": "O", "shape": [], "data": []}}], "states": [7, "not base64!"],
        "events": [None, [1], [{"t": 0}]], "seed": [None, 2**80, "x"], "format_version": [99, "x"], "format": ["other"],
    }  # fmt: skip
    for name, values in changes.items():
        for value in values:
            path.write_text(json.dumps({**record, name: value}) + "\n")
            refused(f"{name}: {value!r}", lambda: list(read_jsonl(path)))
    hostile.gzip_bomb(path, start=b'{"format": "')
    refused("a bomb", lambda: list(read_jsonl(path)))


def _nothing():
    raise InterplayError("there is nothing in it")


# --- importers


@pytest.mark.parametrize("kind", ["hanabi-humans", "hanab-live", "ah2ac2", "jsonl", "overcooked-ai"])
def test_importers_meet_hostile_files(kind, tmp_path, refused):
    names = {"hanabi-humans": "games.jsonl", "hanab-live": "games.json", "ah2ac2": "games.safetensors"}
    path = tmp_path / names.get(kind, "trials.pickle" if kind == "overcooked-ai" else "games.jsonl")

    def read():
        return len(interplay.api.import_traces(kind, path, tmp_path / "out")) or _nothing()

    for what, call in hostile.each_json(path, read):
        refused(what, call)
    for what, call in hostile.in_place_of(path, read, tmp_path / "absent"):
        refused(what, call)
    hostile.gzip_bomb(path)
    refused("a bomb", read)
    assert not (tmp_path / "out").exists()


class Runs:
    def __reduce__(self):
        return os.system, ("touch HERE",)


def test_pickles_hold_tables_or_nothing(tmp_path, refused):
    pytest.importorskip("pandas")
    import pandas

    for what, value in {
        "code": Runs(),
        "code in a list": [Runs()],
        "a number": 7,
        "a mapping": {"a": 1},
        "a set": {1, 2},
        "a function": print,
        "a class": Path,
        "columns that are no names": pandas.DataFrame({1: [2]}),
    }.items():
        refused(what, read_frame, what, pickle.dumps(value))
    # A mapping whose key is a pair of twice the same pair, sixty times: a few bytes, and 2 ** 60 steps to hash.
    pairs = b"".join(b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86\x940" for i in range(60))
    refused("a key that takes forever", read_frame, "x", b"\x80\x04)\x940" + pairs + b"}h\x3cK\x01s.")
    refused("a table without its insides", read_frame, "x", b"\x80\x04cpandas\nDataFrame\n)\x81.")
    assert not (tmp_path / "HERE").exists()


def test_archives_are_read_within_bounds(tmp_path, refused):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        big = tarfile.TarInfo("padding.bin")
        big.size = 1 << 27
        archive.addfile(big, Zeros(big.size))
        data = pickle.dumps(Runs())
        member = tarfile.TarInfo("../../clean_train_trials.pickle")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    refused("an archive", interplay.api.import_traces, "overcooked-ai", tmp_path / "a.tar.gz", tmp_path / "out")


class Zeros(io.RawIOBase):
    def __init__(self, size):
        self.left = size

    def read(self, size=-1):
        size = min(self.left, size if size >= 0 else self.left)
        self.left -= size
        return b"\0" * size


def test_recorded_games(tmp_path, refused):
    path = tmp_path / "games.npz"
    for what, call in hostile.each_json(path, lambda: recorded.load(path)):
        refused(what, call)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        header = b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (9999999999,), }"
        archive.writestr("actions.npy", header.ljust(128) + b"\0" * 64)
    refused("a huge claim", recorded.load, path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("actions.npy", b"\0" * (1 << 28))
    refused("a bomb", recorded.load, path)
    np.savez(path, actions=np.array([Runs()], dtype=object))
    refused("objects", recorded.load, path)
    about = json.dumps({"format": "interplay-recorded", "version": 1, "rules": [{"game": "os:system", "options": {}}]})
    good = {
        "about": np.array(about), "rules": np.zeros(1, np.int16), "actions": np.zeros((1, 3, 2), np.int8),
        "length": np.ones(1, np.int32), "learn": np.ones((1, 2), bool), "person": np.zeros(1, int),
        "score": np.zeros(1),
    }  # fmt: skip
    wrong = {"rules": np.array([7]), "length": np.array([99]), "actions": np.zeros(3), "learn": np.zeros(1)}
    for name, value in {**wrong, "score": np.array(["x"])}.items():
        np.savez(path, **{**good, name: value})
        refused(name, recorded.load, path)
    np.savez(path, **good)
    from interplay.training.imitation.recordings import replayed

    refused("its rules", lambda: replayed(make("overcooked/cramped_room"), recorded.load(path), "features"))


# --- panels, checkpoints, configurations


def test_panels(tmp_path, refused, outside, capsys):
    folder = tmp_path / "panel"
    panel_of(folder, game_of())
    good = json.loads((folder / "panel.json").read_text())

    def read():
        return panel_file.read_panel(folder)

    def write(changed):
        changed["sha256"] = panel_file._digest(changed)
        (folder / "panel.json").write_text(json.dumps(changed))

    attack = {**good["game"], "id": "os:system", "options": {"command": f"touch {tmp_path}/ran"}}
    write({**good, "game": attack})
    refused("a game", read)
    assert run(["partners", "show", str(folder), "--out", str(tmp_path / "p.html")]) == 2
    assert "os:system" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()
    for agent in ("os:system", f"{tmp_path}/evil.py:thing", "llm:openai/gpt-4o", "/etc/passwd.safetensors"):
        write({**good, "members": [{**good["members"][0], "responses": [], "agent": agent, "policy": None}]})
        write({**good, "members": [{k: v for k, v in good["members"][0].items() if k != "policy"} | {"agent": agent}]})
        refused(agent, read)
    for field in ("format", "version", "game", "policies", "members"):
        for value in (None, 7, [], "x", {}, [1], [{}]):
            write({**good, field: value})
            refused(f"{field}: {value!r}", read)
    network = {**good["policies"][0]["network"], "widths": [10**9, 10**9]}
    write({**good, "policies": [{**good["policies"][0], "network": network}, *good["policies"][1:]]})
    refused("a network of a billion units", read)
    for what, call in hostile.each_json(folder / "panel.json", read):
        refused(what, call)
    for what, call in hostile.in_place_of(folder / "panel.json", read, outside):
        refused(what, call)
    write(good)
    for what, call in hostile.in_place_of(folder / "weights.safetensors", read, outside):
        refused(what, call)


def safetensors(path, header, arrays=None):
    save_file(arrays or {"a": np.zeros(2, np.float32)}, path, metadata={"interplay": header})


def test_checkpoints(tmp_path, refused):
    path = tmp_path / "p.safetensors"
    for what, call in hostile.each_json(path, lambda: neural.load(path)):
        refused(what, call)
    for what, text in hostile.JSON_TEXTS.items():
        safetensors(path, text.decode("utf-8", "replace"))
        refused(f"header: {what}", neural.load, path)
    header = {"format": "interplay-policy", "version": 1, "encoding": "planes", "training": {}}
    header |= {"game": {"id": "os:system", "options": {}, "rules_version": "1"}}
    small = {"input": [2], "outputs": 2, "widths": [2]}
    wrong = [{"widths": [10**9]}, {"widths": [2] * 10**5}, {"depth": 10**9}, {"input": "x"}, {"outputs": -1}, {"x": 1}]
    for network in ({}, [], None, *(small | change for change in [*wrong, {"trunk": "os:system"}])):
        safetensors(path, json.dumps({**header, "network": network}))
        refused(f"network {network!r:.60}", neural.load, path)
    path.write_bytes((2**60).to_bytes(8, "little") + b"{}")
    refused("a header of an exabyte", neural.load, path)
    claim = b'{"a":{"dtype":"F32","shape":[99999999999],"data_offsets":[0,399999999996]}}'
    path.write_bytes(len(claim).to_bytes(8, "little") + claim + b"\0" * 64)
    refused("a claim of gigabytes", neural.load, path)
    safetensors(path, "null", {"params,priv_net_dense_0,kernel": np.zeros((3, 3), np.float32)})
    refused("half a published network", pretrained.load, path)


def test_training_runs(tmp_path, refused, outside):
    folder = tmp_path / "run"
    folder.mkdir()
    manifest = {"format": "interplay-training", "version": 1, "experiment": {"game": {"name": "os:system"}}}
    manifest |= {
        "game": {},
        "stage": "",
        "inputs": {},
        "state": {"file": None, "sha256": None, "update": 0},
        "snapshots": [],
    }
    path = folder / "manifest.json"
    for file in ("../outside.json", "/etc/passwd", "a\0b", 7, ["x"], "", None):
        path.write_text(json.dumps({**manifest, "policies": [{"file": file}]}))
        refused(f"policy {file!r}", neural.load, folder)
        path.write_text(
            json.dumps({**manifest, "policies": [{"file": "p"}], "state": {"file": file or "../x", "sha256": "x"}})
        )
        refused(f"state {file!r}", saved_stages.load_stage, folder)
    (folder / "linked.safetensors").symlink_to(outside)
    path.write_text(json.dumps({**manifest, "policies": [{"file": "linked.safetensors"}]}))
    refused("a linked policy", neural.load, folder)
    (folder / "s").write_bytes(b"x")
    path.write_text(json.dumps({**manifest, "policies": [{"file": "p"}], "state": {"file": "s", "sha256": "x"}}))
    refused("a game of a manifest", saved_stages.load_stage, folder)
    for what, call in hostile.each_json(path, lambda: checkpoint.read_manifest(folder)):
        refused(what, call)
    config = tmp_path / "config.json"
    for what, call in hostile.each_json(config, lambda: loader.load(config, Experiment)):
        refused(what, call)
    from interplay.training.algorithms import train

    for game, method in (("os:system", "sp"), ("overcooked/cramped_room", "os:system")):
        config.write_text(json.dumps({"game": {"name": game}, "algorithm": {"name": method}}))
        refused(f"{game} {method}", lambda: train(loader.load(config, Experiment)))


def test_other_files_of_people(tmp_path, refused):
    path = tmp_path / "file"
    readers = {
        "prices": Prices.read, "transcripts": read_transcripts, "features": features.read, "measures": read_measures,
    }  # fmt: skip
    for name, read in readers.items():
        for what, text in hostile.JSON_TEXTS.items():
            if (name, what) in (("prices", "an empty object"),):
                continue
            path.write_bytes(text)
            refused(f"{name}: {what}", read, path)
        hostile.gzip_bomb(path)
        refused(f"{name}: a bomb", read, path)
    path.write_bytes(b"\x1f\x8b" + b"x" * 50)
    refused("half a gzip file", read_rows, path)
    hostile.gzip_bomb(path)
    refused("a bomb", read_rows, path)
    path.write_text('{"key": "k", "answer": {"no": 1}}\n')
    refused("an answer", lambda: ResponseCache(path))


# --- studies, challenges, servers


@pytest.mark.parametrize("case", hostile.YAML_TEXTS)
def test_study_and_challenge_files(case, tmp_path, refused):
    text = hostile.YAML_TEXTS[case].replace("HERE", str(tmp_path / "ran"))
    (tmp_path / "file.yaml").write_text(text)
    refused(case, reading.load, tmp_path / "file.yaml")
    refused(case, challenge_spec.load, tmp_path / "file.yaml")
    assert not (tmp_path / "ran").exists()


def test_agents_and_games_of_a_study_file_are_registered(tmp_path, refused):
    from interplay.server.examples import STUDIES

    module = tmp_path / "evil.py"
    module.write_text(f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    text = STUDIES.files()["overcooked_ranking"].read_text()
    protocol = reading.parse(text)
    game = next(iter(protocol.games))
    for name in ("os:system", f"{module}:thing", "sparta:os:system", "llm:os:system"):
        partners = dict.fromkeys(protocol.partners, name)
        refused(name, staging.make_engine, protocol.model_copy(update={"partners": partners}), game, (1,))
        setting = protocol.games[game].model_copy(update={"game": name})
        changed = protocol.model_copy(update={"games": {**protocol.games, game: setting}})
        refused(f"game {name}", staging.make_engine, changed, game, (1,))
    assert not (tmp_path / "ran").exists()


def test_a_challenge_file_is_served_with_registered_things(tmp_path, refused):
    from interplay.challenge.app_state import make_stage

    challenge = challenge_spec.load(next(iter(CHALLENGES.files().values())))
    setting = challenge.settings[0]
    for changes in ({"game": "os:system"}, {"partners": ("os:system",), "panel": None}):
        refused(changes, make_stage, setting.model_copy(update=changes))


@pytest.mark.parametrize("name", hostile.NAMES, ids=lambda n: repr(n)[:30])
def test_a_server_cannot_run_code_in_its_clients(name, refused, tmp_path):
    candidate = Candidate({"": "random"}, 0)
    refused(name, candidate.make, "s", name, {"command": f"touch {tmp_path}/ran"})
    before = trust.trust_data()
    try:
        if isinstance(name, str) and ":" in name:
            refused(f"{name}, trusted", candidate.make, "s", name, {"command": f"touch {tmp_path}/ran"})
    finally:
        trust.trust_data(before)
    assert not (tmp_path / "ran").exists()


def test_exports_of_studies(tmp_path, refused, outside):
    folder = tmp_path / "export"
    folder.mkdir()
    path = folder / "protocol.json"
    for what, call in hostile.each_json(path, lambda: read_folder(folder)):
        refused(what, call)
    for what, call in hostile.in_place_of(path, lambda: read_folder(folder), outside):
        refused(what, call)


def test_stored_games_are_unpacked_within_bounds(refused):
    refused("a bomb", untrusted_files.inflate, zlib.compress(b"\0" * (1 << 30)), "a game")
    refused("half", untrusted_files.inflate, zlib.compress(b"abc" * 1000)[:-6], "a game")
    refused("junk", untrusted_files.inflate, b"junk", "a game")
