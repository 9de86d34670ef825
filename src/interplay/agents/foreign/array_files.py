"""Read arrays out of files of other frameworks without running anything that they hold.

Pickles are read by an unpickler that knows a handful of names: those of numpy arrays, JAX arrays, flax's dictionaries
and torch tensors. Every other name is refused, and so is every call of a known one with arguments of another kind.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.errors import InterplayError
from interplay.untrusted_files import (
    ARRAYS_LIMIT,
    FREE_EXPANSION,
    MiB,
    file_in,
    read_bytes,
    read_safetensors,
    regular_file,
)

Tree = dict[str, Any]  # names -> array or tree
PICKLE_LIMIT = 1024 * MiB
_DTYPES = {
    "FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2", "LongStorage": "<i8", "IntStorage": "<i4",
    "ShortStorage": "<i2", "CharStorage": "i1", "ByteStorage": "u1", "BoolStorage": "?",
}  # fmt: skip


class _Storage(NamedTuple):
    """The bytes of a torch storage, not yet read."""

    dtype: str
    key: str
    size: int


def _tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> np.ndarray:
    """A torch tensor as an array; its storage is an array already."""
    whole = (isinstance(offset, int), isinstance(shape, tuple), isinstance(strides, tuple))
    if not isinstance(storage, np.ndarray) or not all(whole) or len(shape) != len(strides):
        raise pickle.UnpicklingError("a tensor is not described as torch describes one")
    if offset < 0 or any(not isinstance(n, int) or n < 0 for n in (*shape, *strides)):
        raise pickle.UnpicklingError("a tensor has a negative size")
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if 0 not in shape else offset
    if last >= max(len(storage), 1):
        raise pickle.UnpicklingError("a tensor is larger than what the file holds of it")
    steps = tuple(s * storage.itemsize for s in strides)
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, steps).copy()


def _parameter(data: Any, *_: Any) -> Any:
    return data


def _numpy_array(*_: Any) -> np.ndarray:
    return np.ndarray((0,), "u1")


def _scalar(dtype: Any, data: bytes = b"") -> Any:
    if not isinstance(dtype, np.dtype) or dtype.hasobject:
        raise pickle.UnpicklingError("a number of an unknown kind")
    return np.frombuffer(data, dtype)[0]


def _dtype(name: Any, *_: Any) -> np.dtype:
    if not isinstance(name, str):
        raise pickle.UnpicklingError("a dtype is not given by its name")
    dtype = np.dtype(name)
    if dtype.hasobject:
        raise pickle.UnpicklingError("arrays of Python objects are not read")
    return dtype


def _jax_array(function: Any, args: Any, state: Any, *_: Any) -> np.ndarray:
    """A JAX array, which is pickled as the call that makes it of a numpy array."""
    made = function(*args)
    if isinstance(made, np.ndarray) and isinstance(state, tuple):
        made.__setstate__(state)
    return np.asarray(made)


def _frozen_dict(values: Any = None) -> dict[str, Any]:
    return dict(values or {})


def _from_buffer(data: Any, dtype: Any, shape: Any, order: Any = "C") -> np.ndarray:
    if not isinstance(dtype, np.dtype) or dtype.hasobject:
        raise pickle.UnpicklingError("an array of an unknown kind")
    return np.frombuffer(data, dtype).reshape(shape, order=order)


_ARRAY_MODULES = ("numpy._core.multiarray", "numpy.core.multiarray")
_KNOWN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("builtins", "dict"): dict,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch.nn.parameter", "Parameter"): _parameter,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _dtype,
    ("numpy.dtypes", "Float32DType"): lambda: np.dtype("f4"),
    ("jax._src.array", "_reconstruct_array"): _jax_array,
    ("flax.core.frozen_dict", "FrozenDict"): _frozen_dict,
    **{(module, "_reconstruct"): _numpy_array for module in _ARRAY_MODULES},
    **{(module, "scalar"): _scalar for module in _ARRAY_MODULES},
    **{(module, "_frombuffer"): _from_buffer for module in ("numpy._core.numeric", "numpy.core.numeric")},
    **{("torch", name): name for name in _DTYPES},
}


class _Unpickler(pickle.Unpickler):
    """Knows the names above and no other; storages of torch come from the archive around the pickle."""

    def __init__(self, data: bytes, storages: Any = None):
        super().__init__(io.BytesIO(data))
        self.storages = storages

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which no file of weights needs")
        return _KNOWN[module, name]

    def persistent_load(self, pid: Any) -> np.ndarray:
        if self.storages is None or not isinstance(pid, tuple) or len(pid) != 5 or pid[0] != "storage":
            raise pickle.UnpicklingError("it refers to something outside of the file")
        _, kind, key, _, size = pid
        if kind not in _DTYPES or not isinstance(key, str) or not isinstance(size, int):
            raise pickle.UnpicklingError(f"a storage of the kind {kind!r:.40}")
        return self.storages(_Storage(_DTYPES[kind], key, size))


def _unpickled(data: bytes, where: Path, storages: Any = None) -> Any:
    try:
        return _Unpickler(data, storages).load()
    except InterplayError:
        raise
    except Exception as error:  # a hostile pickle can raise anything, and nothing of it is ours
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InterplayError(f"{where} was not read: {problem}. It is damaged, or no file of weights alone") from None


def read_pickle(path: str | Path) -> Any:
    """Read arrays in dictionaries and lists from a pickle.

    Raises:
        InterplayError: The file is damaged, or names anything but arrays and dictionaries. Nothing in it is run.
    """
    path = Path(path)
    return _unpickled(read_bytes(path, limit=PICKLE_LIMIT), path)


def read_torch(path: str | Path) -> Any:
    """Read what `torch.save` wrote, tensors as arrays; torch is not needed.

    Raises:
        InterplayError: The file is no archive of torch, is damaged, or names anything but tensors and dictionaries.
    """
    path = regular_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {member.filename: member.file_size for member in archive.infolist()}
            if sum(sizes.values()) > min(ARRAYS_LIMIT, FREE_EXPANSION + 100 * path.stat().st_size):
                raise InterplayError(f"{path} would expand to {sum(sizes.values()) / MiB:.0f} MiB; it was not read")
            (main,) = [name for name in sizes if name.endswith("/data.pkl") or name == "data.pkl"]
            folder = main.removesuffix("data.pkl")

            def storage(one: _Storage) -> np.ndarray:
                data = archive.read(f"{folder}data/{one.key}")
                if len(data) != one.size * np.dtype(one.dtype).itemsize:
                    raise pickle.UnpicklingError(f"storage {one.key} does not hold {one.size} numbers")
                return np.frombuffer(data, one.dtype)

            return _unpickled(archive.read(main), path, storage)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, EOFError, NotImplementedError) as error:
        if isinstance(error, InterplayError):
            raise
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InterplayError(
            f"{path} is no file of torch (an archive with data.pkl; torch 1.6 or later writes it): {problem}"
        ) from None


def read_orbax(path: str | Path) -> Any:
    """Read the tree of an Orbax checkpoint's folder, arrays as numpy's.

    Raises:
        InterplayError: orbax is not installed, or the folder holds no checkpoint.
    """
    path = Path(path)
    if not path.is_dir():
        raise InterplayError(f"{path} is no folder; an Orbax checkpoint is one, with _METADATA in it")
    regular_file(file_in(path, "_METADATA"), within=path)
    try:
        import orbax.checkpoint as ocp
    except ImportError:
        raise InterplayError("Orbax checkpoints need `pip install interplay[orbax]`") from None
    try:
        import jax

        checkpointer = ocp.PyTreeCheckpointer()
        tree = checkpointer.metadata(path.resolve()).item_metadata
        tree = getattr(tree, "tree", tree)
        wanted = jax.tree.map(lambda _: ocp.RestoreArgs(restore_type=np.ndarray), tree)
        return checkpointer.restore(path.resolve(), restore_args=wanted)
    except Exception as error:  # orbax and tensorstore raise errors of many kinds
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InterplayError(f"{path} holds no Orbax checkpoint that can be read: {problem}") from None


def read_flat_safetensors(path: str | Path) -> Tree:
    """Read a safetensors file whose names are paths joined by commas or dots, as JaxMARL writes them."""
    return nested(read_safetensors(path).arrays)


def nested(flat: Mapping[str, Any]) -> Tree:
    """Return a tree from names joined by commas or dots."""
    tree: Tree = {}
    for name, array in flat.items():
        *folders, last = name.replace(".", ",").replace("/", ",").split(",")
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
            if not isinstance(place, dict):
                raise InterplayError(f"the arrays are named so that {folder!r} is an array and a folder at once")
        place[last] = array
    return tree


def flattened(tree: Any, prefix: str = "") -> dict[str, np.ndarray]:
    """Return the arrays of a tree by their names joined by commas."""
    if isinstance(tree, Mapping):
        parts = [flattened(value, f"{prefix}{name},") for name, value in tree.items()]
        return {name: array for part in parts for name, array in part.items()}
    if isinstance(tree, np.ndarray | np.generic):
        return {prefix.rstrip(","): np.asarray(tree)}
    raise InterplayError(
        f"{prefix.rstrip(',') or 'the file'} is {type(tree).__name__}, neither arrays nor names of them"
    )
