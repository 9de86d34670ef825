"""`interplay partners select | diversity | build | show`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import note, show


@dataclass(frozen=True)
class Select:
    """Select the partners whose best responses behave most differently: k-DPP draws, then exchange search.

    The file has a row per candidate: `candidate`, `mean_return` with its best response, and a column per feature
    (event counts of the best response in each seat). Columns are divided by their maximum; the determinant of
    X X^T is made as large as possible.

    Examples:
      interplay partners select features.csv.gz --k 10
      interplay partners select features.csv --k 10 --json
    """

    features: Annotated[Path, tyro.conf.Positional]
    """CSV file, packed (.gz) or not."""
    k: int = 10
    """How many to select."""
    least_return: float = 10.0
    """Candidates whose mean return is not above this are dropped first."""
    draws: int = 500
    """Sets drawn from the k-DPP."""
    restarts: int = 24
    """Sets from which the exchange search starts."""
    seed: int = 0
    """The same seed selects the same."""
    json: bool = False
    """Print one JSON object with `selected`, `log_det`, `det` and `rank`."""

    def run(self) -> None:
        from interplay.partners.features import able, read
        from interplay.partners.select import select

        given = read(self.features)
        kept = able(given, self.least_return, str(self.features))
        found = select(kept, self.k, draws=self.draws, restarts=self.restarts, seed=self.seed)
        dropped = [i for i in given.ids if i not in kept.ids]
        facts = {"selected": list(found.selected), "log_det": found.log_det, "det": found.det, "rank": found.rank}
        facts |= {"candidates": found.candidates, "dropped": dropped, "sampled_log_det": found.sampled_log_det}
        show(found.table, json=self.json, **facts)
        if not self.json:
            print(f"log det {found.log_det:.4f}, rank {found.rank}, of {found.candidates} candidates", end="")
            print(f" ({len(dropped)} dropped)" if dropped else "")


@dataclass(frozen=True)
class Diversity:
    """BR-Div by size: the largest log determinant that sets of each size reach, and P-Div of the same sets.

    Examples:
      interplay partners diversity br_features.csv.gz --sizes 2 5 10
      interplay partners diversity br_features.csv --partners p_features.csv --json
    """

    features: Annotated[Path, tyro.conf.Positional]
    """CSV file with the features of the best responses."""
    partners: Path | None = None
    """CSV file with the partners' own features, for P-Div."""
    sizes: tuple[int, ...] = (1, 2, 5, 10, 15)
    """Sizes of sets; those beyond the rank of the features are left out."""
    least_return: float = 10.0
    """Candidates whose mean return is not above this are dropped first."""
    seed: int = 0
    """The same seed gives the same."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        from interplay.partners.features import able, read
        from interplay.partners.kdpp import rank
        from interplay.partners.select import by_size

        kept = able(read(self.features), self.least_return, str(self.features))
        most = rank(kept.normalised())
        left_out = [k for k in self.sizes if k > most]
        if left_out:
            note(f"left out: {', '.join(map(str, left_out))}, since the features have rank {most}")
        own = None if self.partners is None else read(self.partners)
        table = by_size(kept, [k for k in self.sizes if k <= most], own, seed=self.seed)
        show(table, json=self.json, rank=most)
