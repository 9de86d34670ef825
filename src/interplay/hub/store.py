"""Find an agent or a panel on this machine, and check its files before use.

Looked for in turn in the package (a demonstration), in the distribution `interplay-agents`, and in the cache, where
`interplay hub get` and `interplay hub add` put things. The package has the index of all that `interplay-agents`
carries: files under those names must have the sha256 of the index, wherever they lie.
"""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from interplay.errors import InterplayError, UnknownName
from interplay.hub.cache import cache_folder
from interplay.hub.manifest import (
    AGENT,
    MANIFEST,
    PANEL,
    HubItem,
    describe_all,
    file_of,
    kind_of,
    paths_of,
    read_manifest,
    write_manifest,
)

DISTRIBUTION = "interplay-agents"
COMMAND = f"pip install {DISTRIBUTION}"
DEMONSTRATION = Path(__file__).parent / "data"
CHECKOUT = Path(__file__).parents[3] / "packages" / DISTRIBUTION / "src" / "interplay_agents"
RECORDS = "items"  # in the cache: a manifest for each item that is not in the index


class MissingWeights(InterplayError):
    """A known agent or panel whose files are not on this machine."""

    def __init__(self, item: HubItem, hint: str = ""):
        size = f"{item.bytes / 1e6:.2f} MB"
        super().__init__(f"{item.name} ({size}) is not on this machine: run `{COMMAND}`{hint}")
        self.item = item


class Located(NamedTuple):
    """An item and the folder of the hub that has its files."""

    item: HubItem
    place: str
    folder: Path

    @property
    def path(self) -> Path:
        """The file of an agent, the folder of a panel."""
        first = self.folder / self.item.files[0].path
        return first if self.item.kind == AGENT else first.parent


def folders() -> dict[str, Path]:
    """Return the folders of the hub on this machine by place, in the order in which they are searched."""
    places = {"package": DEMONSTRATION}
    if (distribution := distribution_folder()) is not None:
        places[DISTRIBUTION] = distribution
    return places | {"cache": cache_folder() / "hub"}


def distribution_folder() -> Path | None:
    """Return the folder of `interplay-agents`: that of the same checkout, or the installed one."""
    if (CHECKOUT / "agents").is_dir():  # a source archive of interplay has the manifest alone
        return CHECKOUT
    spec = find_spec("interplay_agents")
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None


def index() -> dict[str, HubItem]:
    """Return all that interplay and `interplay-agents` of this version carry, by name, whether it is here or not."""
    built_in = Path(__file__).with_name("index.json")  # a wheel has a copy of the manifest here
    return _manifest(built_in if built_in.is_file() else CHECKOUT / MANIFEST)


@lru_cache(maxsize=8)
def _manifest(path: Path) -> dict[str, HubItem]:
    return read_manifest(path)


def _own_items(place: str, folder: Path) -> dict[str, HubItem]:
    """Return what a folder says it has beyond the index."""
    if place == "package":
        return {}
    if place == "cache":
        records = sorted((folder / RECORDS).glob("*.json"))
        return {name: item for record in records for name, item in read_manifest(record).items()}
    return _manifest(folder / MANIFEST) if (folder / MANIFEST).is_file() else {}


def items() -> dict[str, HubItem]:
    """Return all items that are known, by name; entries of the index win."""
    known: dict[str, HubItem] = {}
    for place, folder in folders().items():
        known = _own_items(place, folder) | known
    return dict(sorted((known | index()).items()))


def locate(item: HubItem) -> Located | None:
    """Return where the files of an item are; None if they are not on this machine. Nothing is checked yet."""
    for place, folder in folders().items():
        if all(os.path.isfile(folder / file.path) for file in item.files):  # False where nothing may be read
            return Located(item, place, folder)
    return None


def local_names(kind: str, game: str | None = None) -> list[str]:
    """Return the names of the agents or panels on this machine, of one game or of all."""
    return [
        name
        for name, item in items().items()
        if item.kind == kind and game in (None, item.game) and locate(item) is not None
    ]


def panel_names(game: str) -> list[str]:
    """Return the names, without the game, of the panels that are known for a game, on this machine or not."""
    known = (item.name for item in items().values() if item.kind == PANEL and item.game == game)
    return [name.rpartition(":")[2] for name in known]


def require(name: str, hint: str = "") -> Path:
    """Return the file of an agent, or the folder of a panel, after a check of size and sha256.

    Args:
        name: Such as `trained/overcooked/counter_circuit/hsp-1` or `overcooked/counter_circuit:generated`.
        hint: What else than fetching the files can be done, for the error's end.

    Raises:
        UnknownName: Nothing is called so.
        MissingWeights: The files are not on this machine; the message has the command that brings them.
        InterplayError: A file is not the one that the manifest names.
    """
    known = items()
    if name not in known:
        near = [other for other, item in known.items() if item.kind == _kind_or_agent(name)]
        raise UnknownName(_kind_or_agent(name), name, near)
    located = locate(known[name])
    if located is None:
        raise MissingWeights(known[name], hint)
    check(located)
    return located.path


def _kind_or_agent(name: str) -> str:
    try:
        return kind_of(name)
    except InterplayError:
        return AGENT


def check(located: Located) -> None:
    """Check size and sha256 of every file of an item.

    Raises:
        InterplayError: A file is another one, or lies behind a link.
    """
    for file in located.item.files:
        path = file_of(located.folder, file.path)
        if path.stat().st_size != file.bytes or _sha256(path) != file.sha256:
            remedy = {
                "package": "install interplay again",
                DISTRIBUTION: f"run `{COMMAND} --upgrade --force-reinstall`",
                "cache": f"delete it and run `interplay hub get {located.item.name} --source FOLDER_OR_URL`",
            }[located.place]
            raise InterplayError(
                f"{path} is damaged or of another version: its sha256 is not that of {located.item.name}; {remedy}"
            )
    extra = {path for path in paths_of(located.item.name) if (located.folder / path).exists()}
    if extra - {file.path for file in located.item.files}:
        raise InterplayError(f"{located.path} has files that {located.item.name} does not name; delete the folder")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_index() -> list[HubItem]:
    """Describe anew all that a checkout carries, in the manifest of `interplay-agents`. For whoever retrains."""
    described = [*describe_all(DEMONSTRATION), *describe_all(CHECKOUT)]
    write_manifest(CHECKOUT / MANIFEST, described)
    _manifest.cache_clear()
    return described
