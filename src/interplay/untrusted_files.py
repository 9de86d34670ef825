"""Read files that others wrote: regular files only, within bounds of size, nesting and decompression.

Whatever a file holds, reading it ends in plain values, arrays or an `InterplayError`; nothing is executed. A file that
a folder's own data names must lie in that folder.
"""

from __future__ import annotations

import gzip
import json
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.errors import InterplayError

MiB = 1 << 20
TEXT_LIMIT = 256 * MiB  # of a file that is read as a whole
LINE_LIMIT = 64 * MiB  # of one line
ARRAYS_LIMIT = 4096 * MiB  # of the arrays of one file
FREE_EXPANSION = 16 * MiB  # compressed data may always grow to this
EXPANSION = 100  # and beyond it by this factor; records of games shrink by 10 to 30
NESTING = 100  # lists and objects within each other
YAML_NODES = 100_000  # of a file, each alias counted as what it stands for


def regular_file(path: str | os.PathLike[str], within: str | os.PathLike[str] | None = None) -> Path:
    """Check that a path is a regular file.

    Args:
        path: The file. A device, a pipe or a folder is refused.
        within: A folder that the file must lie in, links followed.

    Returns:
        The path.

    Raises:
        InterplayError: There is no such file, it is no regular file, or it lies elsewhere.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if within is not None and not path.resolve().is_relative_to(Path(within).resolve()):
            raise InterplayError(f"{path} leads out of the folder {within}; nothing was read")
    except FileNotFoundError:
        raise InterplayError(f"cannot read {path}: there is no such file") from None
    except (OSError, ValueError, RuntimeError) as error:  # names too long or with NUL, links in a circle
        raise InterplayError(f"cannot read {str(path)[:200]!r}: {error}") from None
    if not stat.S_ISREG(mode):
        raise InterplayError(f"{path} is {'a folder' if stat.S_ISDIR(mode) else 'no regular file'}; give a file")
    return path


def file_in(folder: str | os.PathLike[str], name: Any) -> Path:
    """The path of a file that data names by its place in a folder.

    Raises:
        InterplayError: The name is no text, is absolute, or leads out of the folder.
    """
    if not isinstance(name, str) or not name or "\0" in name:
        raise InterplayError(f"{folder}: {name!r} is not the name of a file")
    path = Path(folder) / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise InterplayError(f"{folder}: the file {name!r} would lie outside of this folder; nothing was read")
    return path


class BoundedFile:
    """A regular file, read in binary; a gzip file is decompressed while it is read, within bounds."""

    def __init__(self, path: str | os.PathLike[str], within: Any = None):
        self.path = regular_file(path, within)
        self._raw = self.path.open("rb")
        zipped = self._raw.read(2) == b"\x1f\x8b"
        self._raw.seek(0)
        self._file: Any = gzip.GzipFile(fileobj=self._raw) if zipped else self._raw
        size = self.path.stat().st_size
        self._left = FREE_EXPANSION + EXPANSION * size if zipped else size + 1

    def __enter__(self) -> BoundedFile:
        return self

    def __exit__(self, *_: Any) -> None:
        self._file.close()
        self._raw.close()

    def read(self, most: int = -1) -> bytes:
        """At most so many bytes; all that are left if negative."""
        return self._counted(self._file.read(self._left + 1 if most < 0 else most))

    def readline(self, most: int) -> bytes:
        """The next line, or its first so many bytes."""
        return self._counted(self._file.readline(most))

    def _counted(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise InterplayError(f"{self.path} expands to more than {EXPANSION} times its size; it was not read on")
        return data


def read_bytes(path: str | os.PathLike[str], *, limit: int = TEXT_LIMIT, within: Any = None) -> bytes:
    """The bytes of a regular file; those of a gzip file decompressed.

    Raises:
        InterplayError: It cannot be read, holds more than `limit` bytes, or expands beyond all measure.
    """
    try:
        with BoundedFile(path, within) as file:
            data = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InterplayError(f"cannot read {path}: {_first_line(error)}") from None
    if len(data) > limit:
        raise InterplayError(f"{path} holds more than {_size(limit)}, the most that is read of it")
    return data


def read_text(path: str | os.PathLike[str], *, limit: int = TEXT_LIMIT, within: Any = None) -> str:
    """The text of a file in UTF-8, plain or gzipped, with or without a byte-order mark."""
    data = read_bytes(path, limit=limit, within=within)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InterplayError(f"{path} is not written in UTF-8: {error.reason} at byte {error.start}") from None


def parse_json(text: str | bytes, where: str) -> Any:
    """Plain values from JSON text; an error names `where`, line and column."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise InterplayError(f"{where} is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except (RecursionError, ValueError, MemoryError) as error:  # nested too deeply, numbers of a million digits, UTF-8
        raise InterplayError(f"{where} is not JSON that can be read: {_first_line(error)}") from None
    if _deeper(values, NESTING):
        raise InterplayError(f"{where}: lists and objects are nested more than {NESTING} deep")
    return values


def read_json(path: str | os.PathLike[str], *, limit: int = TEXT_LIMIT, within: Any = None) -> Any:
    """Plain values from a JSON file."""
    return parse_json(read_text(path, limit=limit, within=within), str(path))


def _deeper(value: Any, depth: int) -> bool:
    """Whether lists and objects are nested deeper than this."""
    level = [value]
    for _ in range(depth + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
        ]
        if not level:
            return False
    return True


def lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text file, plain or gzipped, with their numbers from 1 on.

    Raises:
        InterplayError: A line is too long, the file is damaged, or it expands beyond all measure.
    """
    number = 0
    try:
        with BoundedFile(path) as file:
            while line := file.readline(LINE_LIMIT + 1):
                number += 1
                if len(line) > LINE_LIMIT:
                    raise InterplayError(f"{path}, line {number} is longer than {_size(LINE_LIMIT)}")
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InterplayError(f"{path}, line {number} is not written in UTF-8: {error.reason}") from None
    except (EOFError, zlib.error, OSError) as error:
        raise InterplayError(f"{path} breaks off after line {number} ({_first_line(error)}): fetch it again") from None


def inflate(data: bytes, where: str) -> bytes:
    """Decompressed zlib data, of at most `EXPANSION` times its size."""
    decoder = zlib.decompressobj()
    try:
        values = decoder.decompress(data, FREE_EXPANSION + EXPANSION * len(data))
    except zlib.error as error:
        raise InterplayError(f"{where} is damaged: {error}") from None
    if decoder.unconsumed_tail or not decoder.eof:
        raise InterplayError(f"{where} is damaged or expands to more than {EXPANSION} times its size")
    return values


class Yaml(NamedTuple):
    """A YAML document: its plain values, and its nodes, which know their lines."""

    values: Any
    root: Any


def parse_yaml(text: str, where: str) -> Yaml:
    """Plain values from YAML text. Keys are given once, and aliases may not make it grow beyond all measure."""
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None:
            _check_nodes(root, where)
        return Yaml(yaml.safe_load(text), root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise InterplayError(f"{where}{line}: this is not YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InterplayError(f"{where} is not YAML that can be read: {_first_line(error)}") from None


def _check_nodes(root: Any, where: str) -> None:
    """Refuse repeated keys, nesting beyond measure, aliases of what they stand in, and aliases that explode."""
    import yaml

    sizes: dict[int, int] = {}

    def size(node: Any, above: tuple[int, ...]) -> int:
        line = node.start_mark.line + 1
        if id(node) in above:
            raise InterplayError(f"{where}, line {line}: an alias stands for what it is a part of")
        if len(above) > NESTING:
            raise InterplayError(f"{where}, line {line}: nested more than {NESTING} deep")
        if id(node) in sizes:
            return sizes[id(node)]
        inner, total = (*above, id(node)), 1
        if isinstance(node, yaml.MappingNode):
            _refuse_repeated_keys(node, where)
            total += sum(size(key, inner) + size(value, inner) for key, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            total += sum(size(value, inner) for value in node.value)
        if total > YAML_NODES:
            raise InterplayError(f"{where}, line {line}: more than {YAML_NODES} values, aliases counted in full")
        sizes[id(node)] = total
        return total

    size(root, ())


def _refuse_repeated_keys(node: Any, where: str) -> None:
    """Refuse keys that are given twice: YAML would silently take the later one."""
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key.value, str):
            raise InterplayError(f"{where}, line {key.start_mark.line + 1}: a key is a word, not a list or a mapping")
        if key.value in seen:
            raise InterplayError(f"{where}, line {key.start_mark.line + 1}: {key.value!r} is given twice")
        seen.add(key.value)


class Arrays(NamedTuple):
    """What a file of arrays holds: a text about them, and the arrays by name."""

    metadata: dict[str, str]
    arrays: dict[str, np.ndarray]


def read_safetensors(path: str | os.PathLike[str], *, within: Any = None) -> Arrays:
    """Arrays and metadata of a safetensors file."""
    from safetensors import SafetensorError, safe_open

    path = regular_file(path, within)
    try:
        with safe_open(path, framework="numpy") as file:
            names = list(file.keys())  # not a dictionary
            return Arrays(dict(file.metadata() or {}), {name: file.get_tensor(name) for name in names})
    except (SafetensorError, OSError, ValueError, TypeError, MemoryError) as error:
        raise InterplayError(f"{path} is damaged or no safetensors file: {_first_line(error)}") from None


def read_npz(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` file; what its arrays claim to need is checked before anything is unpacked."""
    path = regular_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            claimed = sum(member.file_size for member in archive.infolist())
            if claimed > min(ARRAYS_LIMIT, FREE_EXPANSION + 1000 * path.stat().st_size):
                raise InterplayError(f"{path} would expand to {_size(claimed)}; it was not read")
            for member in archive.infolist():
                with archive.open(member) as file:
                    _check_header(file, member, path)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, MemoryError, NotImplementedError) as error:
        raise InterplayError(f"{path} is damaged or no file of arrays: {_first_line(error)}") from None


def _check_header(file: Any, member: zipfile.ZipInfo, path: Path) -> None:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject or int(np.prod([int(n) for n in shape], dtype=object)) * dtype.itemsize > member.file_size:
        raise InterplayError(f"{path}: {member.filename} claims {dtype}{list(shape)}, which it cannot hold")


_PLAIN_DTYPES = frozenset({"b1", *(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)), "f2", "f4", "f8"})


def array_from_json(value: Any, where: str) -> np.ndarray:
    """An array from `{"dtype", "shape", "data"}` as traces hold it.

    Raises:
        InterplayError: The dtype is none of booleans, numbers and short strings, or data and shape disagree.
    """
    try:
        dtype, shape, data = str(value["dtype"]), [int(n) for n in value["shape"]], list(value["data"])
        text = dtype.startswith("U") and dtype[1:].isdigit() and int(dtype[1:]) <= 10_000
        if dtype not in _PLAIN_DTYPES and not text:
            raise InterplayError(f"{where}: the dtype {dtype[:40]!r}; only booleans, numbers and strings are read")
        if any(n < 0 for n in shape) or int(np.prod(shape, dtype=object)) != len(data):
            raise InterplayError(f"{where}: {len(data)} values do not make up the shape {shape}")
        if dtype.startswith("f"):
            data = [float(v) for v in data]
        if any(isinstance(v, list | dict) for v in data):
            raise InterplayError(f"{where}: the data of an array are a flat list")
        return np.array(data, dtype=dtype).reshape(shape)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        if isinstance(error, InterplayError):
            raise
        raise InterplayError(f"{where} is not an array: {_first_line(error)}") from None


def _size(count: int) -> str:
    return f"{count / MiB:.0f} MiB" if count >= MiB else f"{count} bytes"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
