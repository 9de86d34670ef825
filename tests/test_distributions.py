"""What is built and tracked stays small, and both wheels work in an empty environment."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
AGENTS = ROOT / "packages" / "interplay-agents"
WHEEL_LIMIT = 3_400_000  # bytes of interplay's wheel
TRACKED_LIMIT = 52 * 2**20  # bytes of all tracked files
AGENT = "trained/overcooked/counter_circuit/hsp-1"
OTHER = "trained/overcooked/coordination_ring/hsp-1"


def test_all_tracked_files_stay_below_the_limit():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: which files are tracked is unknown")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip(f"git cannot list the tracked files: {listed.stderr.decode().strip()}")
    paths = [ROOT / name.decode() for name in listed.stdout.split(b"\0") if name]
    size = sum(path.lstat().st_size for path in paths if path.exists())
    assert size < TRACKED_LIMIT, f"{size / 2**20:.2f} MiB: what is not worth its bytes goes"


def test_the_lock_file_has_every_requirement():
    names = {re.match(r"[a-z0-9.-]+", line)[0] for line in (ROOT / "requirements.lock").read_text().splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]

    def asked(extra):
        for line in extras[extra]:
            name, more = re.match(r"([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?", line).groups()
            if name == "interplay":
                for part in more.split(","):
                    yield from asked(part)
            else:
                yield name.lower().replace("_", "-")

    needed = {re.match(r"[a-z0-9-]+", line)[0] for line in project["dependencies"]} | set(asked("dev"))
    assert needed <= names, f"run `make lock`: {sorted(needed - names)}"


def builder(root: Path):
    """The build backend of a distribution, which needs no network."""
    builders = pytest.importorskip("hatchling.builders.wheel", reason="wheels are built by hatchling")
    if not (AGENTS / "pyproject.toml").is_file():
        pytest.skip("the sources of the packages are not here")
    return builders.WheelBuilder(str(root))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of interplay."""
    out = tmp_path_factory.mktemp("dist")
    return Path(next(builder(ROOT).build(directory=str(out), versions=["standard"])))


def test_the_wheel_is_small_and_has_one_panel(wheel):
    assert wheel.stat().st_size < WHEEL_LIMIT
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.endswith(".safetensors")] == [
        f"interplay/hub/data/agents/{AGENT.removeprefix('trained/')}.safetensors",
        "interplay/hub/data/panels/overcooked/counter_circuit/generated/weights.safetensors",
    ]


def test_the_two_wheels_have_every_file_of_the_index_once_and_the_second_no_code(wheel):
    main = zipfile.ZipFile(wheel)
    index = main.read("interplay/hub/index.json")
    second = {file.distribution_path: Path(file.path) for file in builder(AGENTS).recurse_included_files()}
    assert second["interplay_agents/manifest.json"].read_bytes() == index
    code = [path for path in second if not path.endswith((".json", ".safetensors"))]
    assert code == ["interplay_agents/__init__.py"]
    data = "interplay/hub/data/"
    files = [path.removeprefix("interplay_agents/") for path in second]
    files += [name.removeprefix(data) for name in main.namelist() if name.startswith(data)]
    listed = {path for item in json.loads(index)["items"].values() for path in item["files"]}
    aside = {"__init__.py", "manifest.json", "agents/hanabi/manifest.json"}
    assert sorted(set(files) - aside) == sorted(listed)
    assert len(files) == len(set(files))


def test_the_source_archive_has_the_index_and_no_weights_of_the_second_distribution():
    builders = pytest.importorskip("hatchling.builders.sdist", reason="source archives are built by hatchling")
    if not (AGENTS / "pyproject.toml").is_file():
        pytest.skip("the sources of the packages are not here")
    paths = [file.distribution_path for file in builders.SdistBuilder(str(ROOT)).recurse_included_files()]
    second = [path for path in paths if path.startswith("packages/")]
    assert second == ["packages/interplay-agents/src/interplay_agents/manifest.json"]


@pytest.mark.slow
def test_both_wheels_work_in_an_empty_environment(wheel, tmp_path):
    """The main wheel grades offline; what it lacks it names; the second wheel brings it.

    Dependencies come from the environment of the tests, so that no network is needed.
    """
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    inside = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    libraries = next(path for path in map(Path, sys.path) if (path / "jax" / "__init__.py").is_file())
    Path(inside, "libraries.pth").write_text(
        f"{libraries}\n"
    )  # .pth files in there, as of editable installs, are not read
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "XLA_FLAGS")}
    environment |= {
        "INTERPLAY_CACHE": str(tmp_path / "cache"),
        "JAX_PLATFORMS": "cpu",
        "https_proxy": "http://localhost:1",
    }

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = [str(python), "-m", "interplay.cli.main", *arguments]
        return subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    def install(wheel: Path) -> None:
        command = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
        subprocess.run([*command, wheel], check=True, env=environment, cwd=tmp_path)

    install(wheel)
    where = subprocess.run(
        [python, "-c", "import interplay; print(interplay.__file__)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert inside in where.stdout
    assert call("--version").stdout.startswith("interplay ")
    graded = call("grade", "--game", "overcooked/counter_circuit", "--agent", AGENT, "--episodes", "20", "--json")
    assert graded.returncode == 0, graded.stderr
    assert "generated" in graded.stdout
    refused = call(
        "play", "--game", "overcooked/coordination_ring", "--agents", OTHER, "stay", "--episodes", "1", "--out", "t"
    )
    assert refused.returncode == 2
    assert "pip install interplay-agents" in refused.stderr
    install(Path(next(builder(AGENTS).build(directory=str(tmp_path), versions=["standard"]))))
    verified = call("hub", "verify", "--json")
    assert verified.returncode == 0, verified.stderr
    assert {row["where"] for row in json.loads(verified.stdout)["rows"]} == {"package", "interplay-agents"}
    played = call(
        "play", "--game", "overcooked/coordination_ring", "--agents", OTHER, "stay", "--episodes", "1", "--out", "t"
    )
    assert played.returncode == 0, played.stderr
    assert call("doctor").returncode == 0
