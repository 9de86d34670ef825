"""Read configurations of training: records whose fields may be schedules."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from interplay import config
from interplay.config import as_json, with_settings
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.training.config import Experiment
from interplay.training.schedule import Schedule, read_schedule

__all__ = ["as_json", "build", "load", "make_game", "method_options", "with_settings"]

T = TypeVar("T")
_READERS = {Schedule: read_schedule}


def load(path: str | Path, kind: type[T]) -> T:
    """Read the record that a JSON file holds."""
    return config.load(path, kind, _READERS)


def build(kind: type[T], values: Any, where: str = "") -> T:
    """Make a record from plain JSON values.

    Args:
        kind: The record's class.
        values: Its fields.
        where: Its place in the configuration, for errors.
    """
    return config.build(kind, values, where, _READERS)


def method_options(kind: type[T], experiment: Experiment) -> T:
    """Return the options of the experiment's algorithm as a record of this kind."""
    return build(kind, experiment.algorithm.options, "algorithm.options")


def make_game(experiment: Experiment) -> Game:
    """Return the experiment's game."""
    return make(experiment.game.name, **experiment.game.options)
