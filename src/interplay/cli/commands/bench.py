"""`interplay bench`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from interplay.cli.show import JsonOption, show
from interplay.config import options
from interplay.table import Table


@dataclass(frozen=True)
class Bench(JsonOption):
    """Steps per second of a game on this machine: random actions, both seats' observations made and read.

    Examples:
      interplay bench overcooked/counter_circuit
      interplay bench overcooked/counter_circuit --envs 65536 --encoding planes_first --json
    """

    game: Annotated[str, tyro.conf.Positional] = "overcooked/counter_circuit"
    """The game: a name of `interplay list games`."""
    envs: int = 1024
    """Environments at a time."""
    steps: int = 400
    """Steps in each."""
    encoding: str = ""
    """What is observed; by default the game's first encoding."""
    options: tuple[str, ...] = ()
    """Options of the game as name=value."""

    def run(self) -> None:
        """Measure the speed and print it."""
        from interplay.games.registry import make
        from interplay.rollout.speed import measure_speed

        game = make(self.game, **options(self.options))
        encoding = self.encoding or next(iter(game.encodings))
        speed = measure_speed(game, envs=self.envs, steps=self.steps, encoding=encoding)
        show(Table.of([speed]), json=self.json)
