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
