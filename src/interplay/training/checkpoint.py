"""What a training run keeps on disk, so that it can be killed at any moment and go on as if it had not been.

manifest.json                what was trained, how far, and which files belong to it; replaced as a whole
state-00000120.safetensors   everything that a run carries, after 120 updates
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

from interplay.errors import InterplayError
from interplay.safe_files import file_in, read_json, read_safetensors
from interplay.training.config import Experiment
from interplay.training.loader import as_json, build

MANIFEST, FORMAT, VERSION = "manifest.json", "interplay-training", 1


def named(tree: Any) -> dict[str, np.ndarray]:
    """The arrays of a tree by their place in it. Keys of random numbers as their data."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path).lstrip("."): np.asarray(_data(leaf)) for path, leaf in leaves}


def _data(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def rebuilt(like: Any, arrays: Mapping[str, np.ndarray], where: str) -> Any:
    """A tree of the shape of `like` from named arrays; whatever does not fit is an error."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    found = []
    for path, leaf in leaves:
        name = jax.tree_util.keystr(path).lstrip(".")
        if name not in arrays:
            raise InterplayError(f"{where} lacks {name}: it belongs to another version or configuration")
        wanted = jax.eval_shape(_data, leaf)
        if arrays[name].shape != wanted.shape or arrays[name].dtype != wanted.dtype:
            has = f"{arrays[name].dtype}{list(arrays[name].shape)}"
            raise InterplayError(f"{where}: {name} is {has}; expected {wanted.dtype}{list(wanted.shape)}")
        value = jnp.asarray(arrays[name])
        found.append(jax.random.wrap_key_data(value) if _is_key(leaf) else value)
    return jax.tree_util.tree_unflatten(structure, found)


def write_arrays(path: Path, tree: Any) -> str:
    """Write a tree as one file, whole or not at all; gives its hash."""
    from safetensors.numpy import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.writing")
    save_file({name: np.ascontiguousarray(a) for name, a in named(tree).items()}, beside)
    digest = file_hash(beside)
    beside.replace(path)
    return digest


def read_arrays(path: Path, digest: str | None = None) -> dict[str, np.ndarray]:
    if not path.exists():
        raise InterplayError(f"{path} is missing, though the manifest beside it names it")
    if digest is not None and file_hash(path) != digest:
        raise InterplayError(f"{path} is not the file that the manifest names: its hash is another")
    return read_safetensors(path, within=path.parent).arrays


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tree_hash(tree: Any) -> str:
    """A hash of all arrays of a tree."""
    digest = hashlib.sha256()
    for name, array in named(tree).items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f".{MANIFEST}.writing"
    beside.write_text(json.dumps({"format": FORMAT, "version": VERSION, **manifest}, indent=1) + "\n")
    beside.replace(folder / MANIFEST)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a training run; None if there is none yet."""
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


def refuse_other(folder: Path, manifest: Mapping[str, Any], mine: Mapping[str, Any]) -> None:
    """Refuse a folder that holds another run.

    Settings that a manifest of an earlier version lacks have their defaults.
    """
    stored = dict(manifest)
    if isinstance(manifest.get("experiment"), dict):
        stored["experiment"] = as_json(build(Experiment, manifest["experiment"]))
    for what in ("experiment", "game", "stage", "inputs"):
        for place, (theirs, ours) in _differences(stored.get(what), mine[what], what).items():
            if place.startswith("experiment.output"):
                continue
            told = f"{place} is {theirs!r} there and {ours!r} here"
            raise InterplayError(
                f"{folder} holds another training run: {told}. Choose another folder; nothing was changed"
            )


def _differences(theirs: Any, ours: Any, place: str) -> dict[str, tuple[Any, Any]]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for key in [*theirs, *(k for k in ours if k not in theirs)]:
            found |= _differences(theirs.get(key), ours.get(key), f"{place}.{key}")
        return found
    return {} if theirs == ours else {place: (theirs, ours)}
