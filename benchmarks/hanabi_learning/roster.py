"""Which trained policy bears which name: roster.json, and where the files are.

`roster.json` has, for two and for three players, a table NAME -> {stage, run} (or {stage, hold}, where runs differ in
how near a clone they are held). `"ship": false` keeps a policy out of the package, `"crossplay": false` out of the
matrix. A policy's file is in WORK/STAGE (what take_in.py unpacked, or the folder of a training run) or, if it is not
there, in the package.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "src"))
RESULTS = HERE / "results"
ROSTER = HERE / "roster.json"
PACKAGE = ROOT / "packages" / "interplay-agents" / "src" / "interplay_agents"
DATA = PACKAGE / "agents" / "hanabi"


class Listed(NamedTuple):
    """A line of the table."""

    name: str  # such as hdr-1
    players: int
    stage: str
    pick: dict[str, Any]  # run or hold
    ship: bool
    crossplay: bool

    @property
    def shipped_at(self) -> str:
        return f"{self.players}p/{self.name}"


def read(path: Path = ROSTER) -> dict[str, Any]:
    return json.loads(path.read_text())


def listed(roster: dict[str, Any], players: int) -> list[Listed]:
    """The table of one number of players."""
    found = []
    for name, line in roster[f"{players}p"]["policies"].items():
        rest = dict(line)
        stage, ship, crossplay = rest.pop("stage"), rest.pop("ship", True), rest.pop("crossplay", True)
        if set(rest) not in ({"run"}, {"hold"}):
            raise SystemExit(f"roster.json, {players}p, {name}: name a run or a hold, not {rest}")
        found.append(Listed(name, players, stage, rest, ship, crossplay))
    return found


def header(file: Path) -> dict[str, Any]:
    """What a policy's file tells of itself."""
    from interplay.agents.neural import opened

    about, _ = opened(file)
    return about if isinstance(about, dict) else {}


def sha256(file: Path) -> str:
    """Which policy it is: the hash of the file that training wrote, also where the package holds it as int8."""
    if source := header(file).get("stored", {}).get("from_sha256"):
        return source
    return hashlib.sha256(file.read_bytes()).hexdigest()


def files_of(stage: str, work: Path | None) -> list[Path]:
    """The policies of a stage in the work folder."""
    if work is None:
        return []
    folder = work / stage
    return sorted(folder.glob("policies/*.safetensors")) or sorted(folder.glob("*.safetensors"))


def shipped_of(stage: str) -> list[Path]:
    """The package's policies of a stage, run by run."""
    found = []
    for players in (2, 3):
        for one in listed(read(), players):
            file = DATA / f"{one.shipped_at}.safetensors"
            if one.stage == stage and file.is_file() and fits(header(file).get("training", {}), one.pick):
                found.append(file)
    return sorted(found, key=lambda file: header(file)["training"]["run"])


def fits(training: dict[str, Any], pick: dict[str, Any]) -> bool:
    return all(abs(float(training.get(key, -1)) - float(value)) < 1e-6 for key, value in pick.items())


def file_of(one: Listed, work: Path | None) -> Path | None:
    """A listed policy's file, or None if it was not trained yet."""
    for file in files_of(one.stage, work):
        if fits(header(file).get("training", {}), one.pick):
            return file
    shipped = DATA / f"{one.shipped_at}.safetensors"
    return shipped if shipped.is_file() else None


def policies(roster: dict[str, Any], players: int, work: Path | None) -> Iterator[tuple[str, str, Path]]:
    """All that can be played, listed or not: STAGE/run (or STAGE/hold), the stage, and the file."""
    ending = f"_{players}p"
    stages = {one.stage for one in listed(roster, players)}
    if work is not None and work.is_dir():
        stages |= {folder.name for folder in work.iterdir() if folder.is_dir() and folder.name.endswith(ending)}
    for stage in sorted(stages):
        if stage.removesuffix(ending) in roster["not_played"]:
            continue
        files = files_of(stage, work)
        if not files:
            mine = [one for one in listed(roster, players) if one.stage == stage]
            files = [file for one in mine if (file := file_of(one, None)) is not None]
        for file in files:
            about = header(file).get("training", {})
            if "run" in about:  # not a snapshot in the middle of training
                yield name_of(stage, about), stage, file


def name_of(stage: str, training: dict[str, Any]) -> str:
    return f"{stage}/{training['hold']:g}" if "hold" in training else f"{stage}/{training['run']}"
