"""`interplay train`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro


@dataclass(frozen=True)
class Train:
    """Train agents as a configuration says, or go on with a run that was killed.

    The same as `python -m interplay.training`, which also runs on machines that have little but JAX.

    Examples:
      interplay train benchmarks/zsc/sp_coordination_ring.json --out runs/ring
      interplay train benchmarks/zsc/fcp_coordination_ring.json --out runs/fcp steps=2e6 --teaming 0.3
      interplay train benchmarks/zsc/sp_coordination_ring.json --out runs/circuit game.name=overcooked/counter_circuit
    """

    config: Annotated[str, tyro.conf.Positional]
    """JSON file with the fields of interplay.training.config.Experiment."""
    changes: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Changes to it as place=value, such as ppo.epochs=8."""
    out: str | None = None
    """Folder for log, checkpoints and policies."""
    teaming: float | None = None
    """Pay giver and receiver of every hand-over that ends in a soup this much."""
    quiet: bool = False
    """No progress on standard error."""

    def run(self) -> int:
        """Train, and return the exit code."""
        from interplay.training.__main__ import main

        arguments = [self.config, *self.changes]
        arguments += [] if self.out is None else ["--out", self.out]
        arguments += [] if self.teaming is None else ["--teaming", str(self.teaming)]
        return main(arguments + (["--quiet"] if self.quiet else []))


@dataclass(frozen=True)
class Sweep:
    """Train every combination of settings, each in a folder of its own, and print a table of returns.

    The same command goes on: finished variants are not trained again, and killed ones go on from their checkpoints.

    Examples:
      interplay sweep benchmarks/zsc/sp_coordination_ring.json --out runs/sweep steps=2e6 seed=0,1,2 ppo.epochs=2,4
      interplay sweep benchmarks/zsc/sp_coordination_ring.json --out /shared/sweep ppo.gamma=0.98,0.99 --engine ray
    """

    config: Annotated[str, tyro.conf.Positional]
    """JSON file with the fields of interplay.training.config.Experiment."""
    changes: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Settings as place=value,value,...; every combination is trained."""
    out: str
    """Folder for the variants and for sweep.csv; with ray, one that all machines see."""
    engine: str = "local"
    """Where the variants are trained: local, one after the other, or ray, one on each free CPU."""
    json: bool = False
    """Print JSON."""
    quiet: bool = False
    """No progress on standard error."""

    def run(self) -> int:
        """Train all variants, print their returns, and return the exit code."""
        from pathlib import Path

        from interplay.cli.show import show
        from interplay.table import Table
        from interplay.training.sweep import train_all, variants

        rows = train_all(variants(self.config, self.changes, self.out), self.engine, self.quiet)
        table = Table.of(list(rows), title="Variants of a sweep")
        table.write(Path(self.out) / "sweep.csv")
        show(table, json=self.json)
        return 0
