"""Tables out of other people's pickles, opened without letting them run code.

A pickle can name any function of any module to be called. This reader allows only the few names that a table of
numbers and strings needs, and refuses the rest before anything is called.
"""

from __future__ import annotations

import io
import pickle
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from interplay.errors import TraceError
from interplay.untrusted_files import TEXT_LIMIT, BoundedFile, read_bytes

ALLOWED = {
    ("builtins", "slice"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.numeric", "_frombuffer"),
    ("pandas", "DataFrame"),
    ("pandas", "Index"),
    ("pandas", "RangeIndex"),
    ("pandas", "StringDtype"),
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas.arrays", "StringArray"),
    ("pandas.core.frame", "DataFrame"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.numeric", "Float64Index"),
    ("pandas.core.indexes.numeric", "Int64Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
    ("pandas.core.internals.blocks", "new_block"),
    ("pandas.core.internals.managers", "BlockManager"),
}


class RefusedPickle(Exception):
    """A pickle has asked for something that no table needs."""


def _check_keys(keys: Sequence[Any]) -> None:
    """Refuse mappings whose keys are not words or numbers: hashing nested keys can take very long."""
    for key in keys:
        if not isinstance(key, str | bytes | int | float | None):
            raise RefusedPickle(f"it uses a {type(key).__name__} as a key, which no table needs")


def find_pickles(source: str | Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of the wanted files in a source archive (.tar.gz), in a folder, or of a single file."""
    path = Path(source)
    if path.is_dir():
        paths = sorted(p for p in path.rglob("*") if p.is_file() and _fits(p.name, patterns))
        pairs: Iterator[tuple[str, bytes]] = ((str(p), read_bytes(p, within=path)) for p in paths)
    elif not path.is_file():
        raise TraceError(f"{path}: no such file or folder")
    elif tarfile.is_tarfile(path):
        pairs = _from_archive(path, patterns)
    else:
        pairs = iter([(str(path), read_bytes(path))])
    empty = True
    for pair in pairs:
        empty = False
        yield pair
    if empty:
        raise TraceError(f"{path}: holds no file named like {' or '.join(patterns)}")


def _from_archive(path: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield the wanted files of an archive, read without unpacking to disk."""
    try:
        with BoundedFile(path) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:  # type: ignore[call-overload]
            for member in archive:
                wanted = member.isfile() and _fits(Path(member.name).name, patterns)
                file = archive.extractfile(member) if wanted else None
                if file is not None:
                    data = file.read(TEXT_LIMIT + 1)
                    if len(data) > TEXT_LIMIT:
                        raise TraceError(f"{path}:{member.name} is too large to be a table of games")
                    yield f"{path}:{member.name}", data
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise TraceError(f"{path} is a damaged archive: {error}") from None


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def read_frame(name: str, data: bytes) -> Any:
    """The pandas table that a pickle holds; an error if it holds or asks for anything else."""
    try:
        import pandas
        from pandas.compat.pickle_compat import Unpickler
    except ImportError as error:
        raise TraceError(
            f"{name}: pandas is needed to open this file ({error}); run: pip install pandas. "
            "The 76 games themselves come with interplay: interplay.games.overcooked.human.human_games()"
        ) from error

    class Restricted(Unpickler):
        """Knows the names of tables, and no others. pandas' own reader, since the format of old tables has changed."""

        dispatch = Unpickler.dispatch.copy()

        def find_class(self, module: str, name: str) -> Any:
            if (module, name) not in ALLOWED:
                if name.startswith("Arrow"):
                    raise RefusedPickle(
                        "it holds text as Arrow arrays; write it under pandas' option mode.string_storage=python"
                    )
                raise RefusedPickle(f"it asks for {module}.{name}, which no table needs, and could run code")
            return super().find_class(module.replace("numpy.core", "numpy._core"), name)

        def load_setitem(self) -> None:
            _check_keys(self.stack[-2:-1])  # type: ignore[attr-defined]
            super().load_setitem()  # type: ignore[misc]

        def load_setitems(self) -> None:
            _check_keys(self.stack[::2])  # type: ignore[attr-defined]
            super().load_setitems()  # type: ignore[misc]

        def load_dict(self) -> None:
            _check_keys(self.stack[::2])  # type: ignore[attr-defined]
            super().load_dict()  # type: ignore[misc]

        def load_set(self) -> None:
            raise RefusedPickle("it holds a set, which no table needs")

        dispatch |= {pickle.SETITEM[0]: load_setitem, pickle.SETITEMS[0]: load_setitems, pickle.DICT[0]: load_dict}
        dispatch |= dict.fromkeys((pickle.ADDITEMS[0], pickle.FROZENSET[0]), load_set)

    try:
        frame = Restricted(io.BytesIO(data)).load()
    except RefusedPickle as error:
        raise TraceError(f"{name}: refused: {error}") from error
    except Exception as error:
        raise TraceError(f"{name}: cannot be opened as a pickled table: {type(error).__name__}: {error}") from error
    if not isinstance(frame, pandas.DataFrame):
        raise TraceError(f"{name}: holds a {type(frame).__name__}, not a table")
    try:
        columns = list(frame.columns)
    except Exception as error:  # a table that was put together by hand, without what every table has
        raise TraceError(f"{name}: holds no whole table: {type(error).__name__}: {error}") from None
    if not all(isinstance(column, str) for column in columns):
        raise TraceError(f"{name}: the columns of a table of games have names")
    return frame
