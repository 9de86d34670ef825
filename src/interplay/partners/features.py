"""Behaviour as numbers: a table of candidates, how they did with their best responses, and what was counted."""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float

from interplay.errors import InterplayError
from interplay.untrusted_files import read_text

ID, RETURN = "candidate", "mean_return"
SMOOTHING = 1e-3  # added to a column's maximum before the column is divided by it

Id = int | str


@dataclass(frozen=True)
class BehaviourFeatures:
    """What was counted of each candidate: of its best response for BR-Div, of itself for P-Div."""

    ids: tuple[Id, ...]
    names: tuple[str, ...]  # such as delivery@seat0
    returns: Float[np.ndarray, " candidate"]  # mean score of the candidate with its best response
    values: Float[np.ndarray, "candidate feature"]

    def __post_init__(self) -> None:
        shape = (len(self.ids), len(self.names))
        if self.values.shape != shape or self.returns.shape != shape[:1]:
            raise InterplayError(f"features of shape {self.values.shape} do not fit {shape[0]} candidates x {shape[1]}")

    def where(self, keep: Bool[np.ndarray, " candidate"]) -> BehaviourFeatures:
        """The candidates that are kept."""
        ids = tuple(i for i, k in zip(self.ids, keep, strict=True) if k)
        return BehaviourFeatures(ids, self.names, self.returns[keep], self.values[keep])

    def of(self, ids: Sequence[Id]) -> BehaviourFeatures:
        """These candidates, in this order."""
        unknown = [i for i in ids if i not in self.ids]
        if unknown:
            raise InterplayError(f"no candidate {', '.join(map(str, unknown))} among {len(self.ids)} candidates")
        places = [self.ids.index(i) for i in ids]
        return BehaviourFeatures(tuple(ids), self.names, self.returns[places], self.values[places])

    def normalised(self) -> Float[np.ndarray, "candidate feature"]:
        """Each column over its maximum among these candidates, so that no event counts more for being frequent."""
        return self.values / (self.values.max(axis=0) + SMOOTHING)


def able(features: BehaviourFeatures, least_return: float = 10.0, where: str = "the features") -> BehaviourFeatures:
    """The candidates that do better than this with their best response; by default than half a soup of Overcooked."""
    candidates = features.where(features.returns > least_return)
    if not candidates.ids:
        raise InterplayError(f"{where}: no candidate has a mean return above {least_return:g}; nothing is left")
    return candidates


def read(path: str | Path) -> BehaviourFeatures:
    """The features of a CSV file (.csv or .csv.gz): `candidate`, `mean_return`, and a column for each feature."""
    path = Path(path)
    try:
        return _read(path, csv.DictReader(io.StringIO(read_text(path), newline="")))
    except csv.Error as error:
        raise InterplayError(f"{path} cannot be read as a CSV file: {error}") from None


def _read(path: Path, rows: csv.DictReader) -> BehaviourFeatures:
    names = [n or "" for n in rows.fieldnames or ()]
    for needed in (ID, RETURN):
        if needed not in names:
            raise InterplayError(f"{path} has no column {needed!r}; its first line is {', '.join(names[:4])} ...")
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise InterplayError(f"{path} has the column {', '.join(twice)} twice")
    columns = tuple(n for n in names if n not in (ID, RETURN))
    if not columns:
        raise InterplayError(f"{path} has no features: it holds {ID} and {RETURN} only")
    ids, returns, values = [], [], []
    for line, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise InterplayError(f"{path}, line {line}: {len(names)} values are needed, as in the first line")
        ids.append(row[ID])
        returns.append(_number(row[RETURN], path, line, RETURN))
        values.append([_number(row[c], path, line, c) for c in columns])
    if not ids:
        raise InterplayError(f"{path} has no candidates: there is nothing below its first line")
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        raise InterplayError(f"{path} lists the candidate {', '.join(twice)} twice; each has one row")
    return BehaviourFeatures(_named(ids), columns, np.array(returns), np.array(values))


def write(path: str | Path, features: BehaviourFeatures) -> None:
    """Write features as a CSV that `read` gives again; the file appears as a whole."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([ID, RETURN, *features.names])
    for i, score, row in zip(features.ids, features.returns, features.values, strict=True):
        writer.writerow([i, repr(float(score)), *(repr(float(v)) for v in row)])
    path = Path(path)
    beside = path.with_name(f".{path.name}.writing")
    packed = path.suffix == ".gz"
    beside.write_bytes(gzip.compress(out.getvalue().encode(), mtime=0) if packed else out.getvalue().encode())
    beside.replace(path)


def _number(text: str, path: Path, line: int, column: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InterplayError(f"{path}, line {line}, column {column}: {text!r} is not a number")
    return value


def _named(ids: Sequence[str]) -> tuple[Id, ...]:
    """Whole numbers as numbers, if all are."""
    return tuple(int(i) for i in ids) if all(i.strip().isdecimal() for i in ids) else tuple(ids)
