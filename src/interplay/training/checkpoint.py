"""The files of a training run, from which it resumes after being killed at any moment.

manifest.json                what was trained, how far, and which files belong to it; replaced as a whole
state-00000120.safetensors   the whole state of all runs (`setup.RunState`), after 120 updates
snapshots/00000060.safetensors   the policies on the way, [run, learner, ...]
policies/run0.safetensors    the trained policies, each an agent
log.jsonl                    the curve
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.records import is_key, key_as_bits
from interplay.training.config import Experiment
from interplay.training.loader import as_json, build
from interplay.untrusted_files import file_in, read_json, read_safetensors

MANIFEST, FORMAT, VERSION = "manifest.json", "interplay-training", 1

# Names of fields in files, where version 0.1.0 called them otherwise; of several that fit the first counts.
STORED_NAMES = {
    "method_state.anchor_policy": "anchor",
    "method_state.anchor_memory": "world.anchor_memory",
    "method_state": "notebook",
    "partners": "guests",
    "world.partners": "world.guests",
    "world.partner_memory": "world.guest_memory",
    "world.event_record": "world.note",
    "world.episode_state": "world.away",
    "world.kept_states": "world.pool",
    "recorded": "seen",  # of reward weights
    "anchor": "hold",
}


def named(tree: PyTree) -> dict[str, np.ndarray]:
    """Return the arrays of a tree by their place in it; random keys as their data."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {_stored_name(path): np.asarray(key_as_bits(leaf)) for path, leaf in leaves}


def _stored_name(path: Any) -> str:
    name = jax.tree_util.keystr(path).lstrip(".")
    for field, stored in STORED_NAMES.items():
        if name.startswith(field) and name[len(field) : len(field) + 1] in ("", ".", "["):
            return stored + name[len(field) :]
    return name


def rebuilt(like: PyTree, arrays: Mapping[str, np.ndarray], where: str) -> PyTree:
    """Return a tree of the shape of `like` from named arrays.

    Args:
        like: A tree of arrays or of their shapes.
        arrays: As `named` gives them.
        where: What holds them, for errors.

    Raises:
        InterplayError: If an array is missing or has another shape or type.
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    values = []
    for path, leaf in leaves:
        name = _stored_name(path)
        if name not in arrays:
            raise InterplayError(f"{where} lacks {name}: it belongs to another version or configuration")
        wanted = jax.eval_shape(key_as_bits, leaf)
        if arrays[name].shape != wanted.shape or arrays[name].dtype != wanted.dtype:
            has = f"{arrays[name].dtype}{list(arrays[name].shape)}"
            raise InterplayError(f"{where}: {name} is {has}; expected {wanted.dtype}{list(wanted.shape)}")
        value = jnp.asarray(arrays[name])
        values.append(jax.random.wrap_key_data(value) if is_key(leaf) else value)
    return jax.tree.unflatten(structure, values)


def write_arrays(path: Path, tree: PyTree) -> str:
    """Write a tree as one file, whole or not at all, and return the file's hash."""
    from safetensors.numpy import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.writing")
    save_file({name: np.ascontiguousarray(a) for name, a in named(tree).items()}, beside)
    digest = file_hash(beside)
    beside.replace(path)
    return digest


def read_arrays(path: Path, digest: str | None = None) -> dict[str, np.ndarray]:
    """Read the named arrays of a file.

    Raises:
        InterplayError: If the file is missing or does not have this hash.
    """
    if not path.exists():
        raise InterplayError(f"{path} is missing, though the manifest beside it names it")
    if digest is not None and file_hash(path) != digest:
        raise InterplayError(f"{path} is not the file that the manifest names: its hash is another")
    return read_safetensors(path, within=path.parent).arrays


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tree_hash(tree: PyTree) -> str:
    """Return the SHA-256 of all arrays of a tree, with their names."""
    digest = hashlib.sha256()
    for name, array in named(tree).items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a training run, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f".{MANIFEST}.writing"
    beside.write_text(json.dumps({"format": FORMAT, "version": VERSION, **manifest}, indent=1) + "\n")
    beside.replace(folder / MANIFEST)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Read the manifest of a training run; None if there is none yet.

    Raises:
        InterplayError: If the folder holds something else.
    """
    path = folder / MANIFEST
    if not path.exists():
        return None
    manifest = read_json(path, within=folder)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InterplayError(f"{folder} holds something else than a training run; nothing was overwritten")
    if manifest.get("version") != VERSION:
        raise InterplayError(f"{path} has version {manifest.get('version')}; this interplay reads {VERSION}")
    state, lists = manifest.get("state"), [manifest.get("snapshots"), manifest.get("policies")]
    if not isinstance(state, dict) or not all(isinstance(one, list) for one in lists):
        raise InterplayError(f"{path} is not the manifest of a training run: it lacks state, snapshots or policies")
    for one in [state, *manifest["snapshots"], *manifest["policies"]]:
        if one.get("file") is not None:
            file_in(folder, one["file"])
    return manifest


def identity(experiment: Experiment, game: Game, inputs: Mapping[str, Any], stage: str = "") -> dict[str, Any]:
    """Return what tells training runs apart, for the manifest; `inputs` are hashes of what was trained from."""
    key = {"id": game.id, "options": dict(game.options), "rules_version": game.rules_version}
    return {"experiment": as_json(experiment), "stage": stage, "game": key, "inputs": dict(inputs)}


def refuse_other(folder: Path, manifest: Mapping[str, Any], mine: Mapping[str, Any]) -> None:
    """Check that a folder holds this run. Settings that an earlier version's manifest lacks have their defaults.

    Raises:
        InterplayError: If it holds another one.
    """
    stored = dict(manifest)
    if isinstance(manifest.get("experiment"), dict):
        stored["experiment"] = as_json(build(Experiment, manifest["experiment"]))
    for what in ("experiment", "game", "stage", "inputs"):
        for place, (theirs, ours) in _differences(stored.get(what), mine[what], what).items():
            if place.startswith("experiment.output") or place == "experiment.actors":
                continue
            difference = f"{place} is {theirs!r} there and {ours!r} here"
            raise InterplayError(
                f"{folder} holds another training run: {difference}. Choose another folder; nothing was changed"
            )


def _differences(theirs: Any, ours: Any, place: str) -> dict[str, tuple[Any, Any]]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        differences: dict[str, tuple[Any, Any]] = {}
        for key in [*theirs, *(k for k in ours if k not in theirs)]:
            differences |= _differences(theirs.get(key), ours.get(key), f"{place}.{key}")
        return differences
    return {} if theirs == ours else {place: (theirs, ours)}
