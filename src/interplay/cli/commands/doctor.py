"""`interplay doctor`."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, requires, version

from interplay.cli.show import JsonOption, show
from interplay.table import Table

EXTRAS = {
    "pettingzoo": "PettingZoo and Gymnasium environments as games",
    "jaxmarl": "JaxMARL environments as games",
    "planning": "PDDL planners",
    "stats": "mixed and ordinal models",
    "llm": "language models behind OpenAI-compatible endpoints",
    "inspect": "tasks for Inspect",
    "local": "a small language model on this machine",
    "server": "hosts of studies and challenges",
    "all": "all of these but `local`; tables as pandas, Arrow and polars",
}
FOR_DEVELOPERS = ("dev", "docs", "browser")


@dataclass(frozen=True)
class Doctor(JsonOption):
    """What is installed, what each extra would add, devices, trained weights, and the sizes of caches.

    Examples:
      interplay doctor
      interplay doctor --json
    """

    def run(self) -> None:
        """Collect and print the rows."""
        rows = [*_installed(), *_extras(), *_devices(), *_weights(), *_caches()]
        show(Table.of(rows, columns=["kind", "name", "state", "about"]), json=self.json)


def _row(kind: str, name: str, state: str, about: str = "") -> dict[str, str]:
    return {"kind": kind, "name": name, "state": state, "about": about}


def _installed() -> list[dict[str, str]]:
    core = [_name(text) for text in _requirements() if "extra ==" not in text]
    rows = [_row("python", platform.python_implementation(), platform.python_version(), platform.platform())]
    return rows + [_row("package", name, _version(name) or "missing") for name in ("interplay", *core)]


def _extras() -> list[dict[str, str]]:
    rows = []
    for extra in _declared_extras():
        mark = re.compile(rf"extra == ['\"]{extra}['\"]")
        needed = [_name(text) for text in _requirements() if mark.search(text)]
        missing = [name for name in needed if name != "interplay" and _version(name) is None]
        command = f"pip install 'interplay[{extra}]' brings {', '.join(missing)}" if missing else ""
        about = "; ".join(filter(None, [EXTRAS.get(extra, ""), command]))
        rows.append(_row("extra", extra, "incomplete" if missing else "installed", about))
    return rows


def _requirements() -> list[str]:
    try:
        return requires("interplay") or []
    except PackageNotFoundError:  # run from its sources
        return []


def _declared_extras() -> list[str]:
    try:
        declared = distribution("interplay").metadata.get_all("Provides-Extra") or []
    except PackageNotFoundError:
        return []
    return [extra for extra in declared if extra not in FOR_DEVELOPERS]


def _devices() -> list[dict[str, str]]:
    import jax  # the slow part: seconds

    return [_row("device", str(device), device.platform, device.device_kind) for device in jax.devices()]


def _weights() -> list[dict[str, str]]:
    from interplay.hub.store import COMMAND, DISTRIBUTION, folders, items, locate

    known = list(items().values())
    rows = []
    for place, folder in ({DISTRIBUTION: None} | folders()).items():
        here = [item for item in known if (located := locate(item)) is not None and located.place == place]
        about = f"{sum(item.bytes for item in here) / 1e6:.1f} MB in {folder}" if folder else f"not here: {COMMAND}"
        rows.append(_row("weights", place, f"{len(here)} of {len(known)}", about))
    return rows


def _caches() -> list[dict[str, str]]:
    from interplay.hub.cache import cache_folder

    rows = []
    for name, about in {"hub": "agents and panels", "jax": "compiled programs"}.items():
        folder = cache_folder() / name
        files = [file for file in folder.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files) / 1e6
        rows.append(_row("cache", name, f"{len(files)} files, {size:.1f} MB", f"{about} in {folder}"))
    return rows


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9_.\-]+", requirement)
    assert match
    return match[0]


def _version(name: str) -> str | None:
    try:
        distribution(name)
        return version(name)
    except PackageNotFoundError:
        return None
