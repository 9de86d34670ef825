"""What a name stands for: files with their sizes and sha256, licence, game, how it was made, and its scores.

A folder of the hub (the package's own, that of `interplay-agents`, the cache, one of yours) has one layout:

    manifest.json                                   what is in it
    agents/GAME/NAME.safetensors                    the agent `trained/GAME/NAME`
    panels/GAME/NAME/panel.json, weights.safetensors, baselines.json      the panel `GAME:NAME`

A name thus leads to paths by itself, and no manifest can make it lead elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from interplay.errors import InterplayError
from interplay.untrusted_files import MiB, file_in, parse_json, read_json, read_safetensors, regular_file

FORMAT, VERSION, MANIFEST = "interplay-hub", 1, "manifest.json"
MANIFEST_LIMIT = 16 * MiB
FILE_LIMIT = 512 * MiB  # of one file of an agent or a panel
PANEL_FILES = ("panel.json", "weights.safetensors", "baselines.json")  # the last may be missing
AGENT, PANEL = "agent", "panel"
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.\-]*"
_AGENT_NAME = re.compile(rf"trained/(?P<game>{_PART}(/{_PART})*)/(?P<name>{_PART})")
_PANEL_NAME = re.compile(rf"(?P<game>{_PART}(/{_PART})*):(?P<name>{_PART})")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class HubFile(NamedTuple):
    """A file of an item."""

    path: str  # in a folder of the hub
    bytes: int
    sha256: str


@dataclass(frozen=True)
class HubItem:
    """A trained agent or a panel."""

    name: str  # trained/GAME/NAME or GAME:NAME
    game: str
    licence: str
    made: str  # how
    scores: Mapping[str, float]
    files: tuple[HubFile, ...]

    @property
    def kind(self) -> str:
        """Return `agent` or `panel`."""
        return kind_of(self.name)

    @property
    def bytes(self) -> int:
        """The size of all files together."""
        return sum(file.bytes for file in self.files)

    def as_json(self) -> dict[str, Any]:
        """Return the entry of a manifest."""
        return {
            "game": self.game,
            "licence": self.licence,
            "made": self.made,
            "scores": dict(self.scores),
            "files": {f.path: {"bytes": f.bytes, "sha256": f.sha256} for f in self.files},
        }


def kind_of(name: str) -> str:
    """Return what a name stands for, agent or panel.

    Raises:
        InterplayError: It is the name of neither.
    """
    if _AGENT_NAME.fullmatch(name):
        return AGENT
    if _PANEL_NAME.fullmatch(name):
        return PANEL
    raise InterplayError(
        f"{name[:100]!r} is no name of the hub: an agent is trained/GAME/NAME, a panel is GAME:NAME, as in "
        "trained/overcooked/counter_circuit/hsp-1 and overcooked/counter_circuit:generated"
    )


def game_of(name: str) -> str:
    """Return the game that a name says."""
    match = (_AGENT_NAME if kind_of(name) == AGENT else _PANEL_NAME).fullmatch(name)
    assert match
    return match["game"]


def paths_of(name: str) -> list[str]:
    """Return the paths of the files of a name; of a panel those that it can have."""
    if kind_of(name) == AGENT:
        return [f"agents/{name.removeprefix('trained/')}.safetensors"]
    return [f"panels/{name.replace(':', '/')}/{file}" for file in PANEL_FILES]


def parse_item(name: str, values: Any, where: str) -> HubItem:
    """Check an entry of a manifest.

    Raises:
        InterplayError: Something is missing, of another type, or names files that are not this item's.
    """
    try:
        files = tuple(HubFile(path, file["bytes"], file["sha256"]) for path, file in values["files"].items())
        scores = {str(key): float(value) for key, value in values["scores"].items()}
        item = HubItem(name, values["game"], values["licence"], values["made"], scores, files)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InterplayError(f"{where}: {name[:100]!r} is no item of the hub: {error!r:.100}") from None
    allowed = paths_of(name)
    if not all(isinstance(text, str) for text in (item.game, item.licence, item.made)) or item.game != game_of(name):
        raise InterplayError(f"{where}: {name}: game, licence and made are text, and the game is that of the name")
    if {f.path for f in files} - set(allowed) or not files or (item.kind == PANEL and not _whole(name, files)):
        raise InterplayError(f"{where}: {name} has the files {', '.join(allowed)}; it names others or too few")
    for file in files:
        if type(file.bytes) is not int or not 0 < file.bytes <= FILE_LIMIT:
            raise InterplayError(f"{where}: {file.path}: {file.bytes!r:.40} bytes; from 1 to {FILE_LIMIT} are allowed")
        if not isinstance(file.sha256, str) or not _SHA256.fullmatch(file.sha256):
            raise InterplayError(f"{where}: {file.path}: {file.sha256!r:.80} is no sha256")
    return item


def _whole(name: str, files: Iterable[HubFile]) -> bool:
    return set(paths_of(name)[:2]) <= {f.path for f in files}


def parse_manifest(text: bytes | str, where: str) -> dict[str, HubItem]:
    """Return the items of a manifest by name."""
    return _items(parse_json(text, where), where)


def read_manifest(path: Path) -> dict[str, HubItem]:
    """Return the items of a manifest's file by name."""
    return _items(read_json(path, limit=MANIFEST_LIMIT, within=path.parent), str(path))


def _items(values: Any, where: str) -> dict[str, HubItem]:
    if not isinstance(values, dict) or values.get("format") != FORMAT or not isinstance(values.get("items"), dict):
        raise InterplayError(f"{where} is no manifest of the hub: it does not say {FORMAT!r}")
    if values.get("version") != VERSION:
        raise InterplayError(f"{where} has version {values.get('version')!r:.40}; this interplay reads {VERSION}")
    return {name: parse_item(name, item, where) for name, item in values["items"].items()}


def write_manifest(path: Path, items: Iterable[HubItem]) -> None:
    """Write a manifest, a line for each item, as a whole or not at all."""
    lines = [f"{json.dumps(i.name)}: {json.dumps(i.as_json())}" for i in sorted(items, key=lambda i: i.name)]
    text = f'{{"format": "{FORMAT}", "version": {VERSION}, "items": {{\n' + ",\n".join(lines) + "\n}}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.writing")
    beside.write_text(text)
    beside.replace(path)


def file_of(folder: Path, path: str) -> Path:
    """Return a file in a folder of the hub.

    Raises:
        InterplayError: There is none, it is no regular file, or it is or lies behind a symbolic link.
    """
    file_path = file_in(folder, path)
    for part in (file_path, *file_path.parents):
        if part == folder:
            break
        if part.is_symlink():
            raise InterplayError(f"{part} is a symbolic link; files of the hub are regular files. Nothing was read")
    return regular_file(file_path, within=folder)


def read_file(folder: Path, path: str, limit: int = FILE_LIMIT) -> bytes:
    """Return the bytes of a file in a folder of the hub, as they are on disk."""
    file_path = file_of(folder, path)
    try:
        with file_path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise InterplayError(f"cannot read {file_path}: {error.strerror}") from None
    if len(data) > limit:
        raise InterplayError(f"{file_path} holds more than {limit} bytes, the most that is read of it")
    return data


def describe(folder: Path, name: str, *, licence: str = "MIT", made: str = "") -> HubItem:
    """Describe an item whose files lie in a folder of the hub.

    Args:
        folder: The folder, with `agents/` or `panels/` in it.
        name: The item's name.
        licence: An SPDX identifier.
        made: How it was made; by default what the files say of it.

    Raises:
        InterplayError: A file is missing, is no agent or panel, or was made for another game than the name says.
    """
    paths = [path for path in paths_of(name) if path.rpartition("/")[2] != PANEL_FILES[2] or (folder / path).exists()]
    data = {path: read_file(folder, path) for path in paths}
    files = tuple(HubFile(path, len(of), hashlib.sha256(of).hexdigest()) for path, of in data.items())
    about = (_about_agent if kind_of(name) == AGENT else _about_panel)(folder / paths[0])
    if about.game != game_of(name):
        raise InterplayError(f"{folder / paths[0]} was made for {about.game!r:.100}, not for {game_of(name)}")
    return HubItem(name, about.game, licence, made or about.made, about.scores, files)


def describe_all(folder: Path) -> list[HubItem]:
    """Describe all agents and panels of a folder of the hub."""
    agents = (p.relative_to(folder / "agents") for p in folder.glob("agents/**/*.safetensors"))
    panels = (p.parent.relative_to(folder / "panels") for p in folder.glob("panels/**/panel.json"))
    names = [f"trained/{path.with_suffix('').as_posix()}" for path in agents]
    names += [f"{path.parent.as_posix()}:{path.name}" for path in panels]
    return [describe(folder, name) for name in sorted(names)]


class _About(NamedTuple):
    game: str
    made: str
    scores: dict[str, float]


def _about_agent(path: Path) -> _About:
    """What the header of a policy's file says; published forms of others have none."""
    header = parse_json(read_safetensors(path).metadata.get("interplay", "null"), str(path))
    try:
        training = header["training"]
        steps = f", {training['steps']:.2g} steps" if "steps" in training else ""
        made = f"{training['algorithm']}, run {training['run']}{steps}"
        measured = {key: training.get(key) for key in ("return", "held_out_cross_entropy")}
        scores = {key: _short(value) for key, value in measured.items() if value is not None}
        return _About(header["game"]["id"], made, scores)
    except (KeyError, TypeError, ValueError) as error:
        raise InterplayError(f"{path} does not say for which game and how it was trained: {error!r:.100}") from None


def _about_panel(path: Path) -> _About:
    panel = read_json(path, within=path.parent)
    try:
        values = [r["worth"]["mean"] for m in panel["members"] for r in m["responses"]]
        provenance = panel["provenance"]
        device = provenance.get("made_with", {}).get("device", "an unknown device")
        kinds = sorted({str(m["kind"]) for m in panel["members"]})
        made = f"{', '.join(kinds)} partners with best responses; made on {device}"
        scores = {"partners": float(len(panel["members"]))}
        if values:
            scores["best_response_return"] = _short(sum(values) / len(values))
        return _About(panel["game"]["id"], made, scores)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InterplayError(f"{path} is not as a panel is written: {error!r:.100}") from None


def _short(value: float) -> float:
    return float(f"{value:.4g}")
