"""Result files of the ZSC-Eval repository as one table that `interplay brprox` reads.

    RESULTS/LAYOUT/ALGORITHM/eval-fcp-S2-s12-1.json     mean returns of an ego (its name ends in its seed) with partners
    RESULTS/LAYOUT/bias/eval-hsp71.json                 candidate 71 (hsp71_final_w0) with its best response (..._w1)
    RESULTS/LAYOUT/bias/eval-br_*.json                  fresh best responses (br_agent) to partners of middling skill

Keys are the names in their seats, joined by '-', then `-eval_ep_sparse_r`. Partners are numbered by their place in the
selection (bias1, bias2, ...), candidates by their own number. The repository's script takes the place for the number,
and so divides by the wrong best responses; here the selection says which candidate stands in which place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.papers.zsc.public_tables import SELECTED
from interplay.table import Row
from interplay.untrusted_files import read_json

SUFFIX = "-eval_ep_sparse_r"
ALGORITHMS = {"traj": "trajedi"}
_EGO = re.compile(r"(?P<algorithm>[a-z0-9]+)(-S2-s(?P<population>\d+))?-(?P<seed>\d+)")
_PARTNER = re.compile(r"bias(?P<place>\d+)_(?P<skill>mid|final)")


def convert(folder: str | Path, layout: str, selected: Sequence[int] | None = None) -> list[Row]:
    """Return a row for each ego, partner, skill and seat.

    Args:
        folder: The folder `eval/results` of the repository.
        layout: The repository's name of a layout, such as random1.
        selected: The number of the candidate behind each partner; by default the published selection.

    Raises:
        InterplayError: Files or keys are missing, or the selection of this layout is not known.
    """
    chosen = tuple(selected or SELECTED.get(layout, ()))
    if not chosen:
        raise InterplayError(f"which candidates are partners of {layout}? Known for {', '.join(SELECTED)}; give them")
    at = Path(folder) / layout
    if not (at / "bias").is_dir():
        raise InterplayError(f"{at / 'bias'} is not there: give the folder eval/results and a layout in it")
    best = _best_responses(at / "bias", chosen)
    rows: list[Row] = []
    for path in sorted(p for p in at.glob("*/eval-*.json") if p.parent.name != "bias"):
        rows += _rows_of(path, best)
    if not rows:
        raise InterplayError(f"{at} has no files ALGORITHM/eval-*.json with returns of egos")
    return rows


def _best_responses(folder: Path, chosen: Sequence[int]) -> dict[tuple[int, str, int], float]:
    """By partner's place, skill and seat of the best response: its mean return."""
    best: dict[tuple[int, str, int], float] = {}
    for place, candidate in enumerate(chosen, 1):
        values = _values(folder / f"eval-hsp{candidate}.json")
        biased, response = (f"hsp{candidate}_final_w{side}" for side in (0, 1))
        for seat, names in enumerate(((response, biased), (biased, response))):
            best[place, "final", seat] = _value(values, "-".join(names), folder / f"eval-hsp{candidate}.json")
    for path in sorted(folder.glob("eval-br_*.json")):
        for key, value in _values(path).items():
            names = key.removesuffix(SUFFIX).split("-")
            for seat, name in enumerate(names):
                partner = _PARTNER.fullmatch(names[1 - seat]) if len(names) == 2 else None
                if name == "br_agent" and partner:
                    best[int(partner["place"]), partner["skill"], seat] = value
    return best


def _rows_of(path: Path, best: Mapping[tuple[int, str, int], float]) -> list[Row]:
    ego = path.stem.removeprefix("eval-")
    parts = _EGO.fullmatch(ego)
    if parts is None:
        raise InterplayError(f"{path}: {ego!r} is no name of an ego such as fcp-S2-s12-1 or sp-1")
    algorithm = ALGORITHMS.get(parts["algorithm"], parts["algorithm"])
    rows: list[Row] = []
    for key, value in _values(path).items():
        teams = key.removesuffix(SUFFIX)
        for seat, other in ((0, teams.removeprefix(f"{ego}-")), (1, teams.removesuffix(f"-{ego}"))):
            partner = _PARTNER.fullmatch(other)
            if partner is None:
                continue
            place = int(partner["place"]), partner["skill"], seat
            if place not in best:
                raise InterplayError(f"{path}: no best response to {other} with the ego in seat {seat} in bias/")
            rows.append(
                {
                    "algorithm": algorithm,
                    "population": parts["population"] or "",
                    "seed": int(parts["seed"]),
                    "partner": place[0],
                    "skill": place[1],
                    "ego_seat": seat,
                    "return": value,
                    "best_response_return": best[place],
                }
            )
    return rows


def _values(path: Path) -> dict[str, float]:
    values = read_json(path)
    if not isinstance(values, dict):
        raise InterplayError(f"{path} holds no returns by name")
    means = {str(k): v for k, v in values.items() if str(k).endswith(SUFFIX) and not str(k).startswith("either")}
    wrong = [k for k, v in means.items() if not isinstance(v, int | float)]
    if wrong:
        raise InterplayError(f"{path}: {wrong[0]} is {means[wrong[0]]!r:.40}, not a number")
    return means


def _value(values: Mapping[str, Any], names: str, path: Path) -> float:
    if f"{names}{SUFFIX}" not in values:
        raise InterplayError(f"{path} lacks {names}{SUFFIX}")
    return values[f"{names}{SUFFIX}"]
