"""Train many variants of one configuration: every combination of the values that settings may have."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.config import as_json, build, load, with_settings
from interplay.errors import InterplayError
from interplay.rollout.engine import engine_by_name
from interplay.training.config import Experiment


@dataclass(frozen=True)
class Variant:
    """One combination of a sweep."""

    settings: dict[str, Any]  # value by place
    config: dict[str, Any]  # the whole experiment, as JSON

    @property
    def name(self) -> str:
        """Of the variant's folder, such as `seed=1,ppo.epochs=4`."""
        return ",".join(f"{place}={value}" for place, value in self.settings.items()).replace("/", "_")


def variants(config: str | Path, changes: Sequence[str], out: str | Path) -> list[Variant]:
    """Return every combination of the settings.

    Args:
        config: JSON file of the experiment.
        changes: Settings as `place=value` or `place=value,value,...`.
        out: The folder below which each variant has its own.

    Raises:
        InterplayError: If a change is not of that form, or a variant is no experiment.
    """
    base = as_json(load(config, Experiment))
    choices = [_choices(change) for change in changes]
    places = [place for place, _ in choices]
    if len(set(places)) < len(places):
        raise InterplayError("a setting stands twice: write all of its values behind one =, separated by commas")
    result = []
    for values in itertools.product(*(values for _, values in choices)):
        settings = dict(zip(places, values, strict=True))
        changed = with_settings(base, [f"{place}={json.dumps(value)}" for place, value in settings.items()])
        varied = {place: value for place, value in settings.items() if len(dict(choices)[place]) > 1}
        folder = Path(out) / Variant(varied, {}).name
        changed = with_settings(changed, [f"output.folder={json.dumps(str(folder))}"])
        build(Experiment, changed)  # all are checked before the first is trained
        result.append(Variant(varied, changed))
    return result


def train_all(variants: Sequence[Variant], engine: str = "local", quiet: bool = False) -> Iterator[dict[str, Any]]:
    """Train variants one by one, or on a cluster, and yield a row for each: its settings, steps and returns.

    A variant whose folder holds a finished run is not trained again, and one that was killed goes on; on a cluster
    that needs folders which all machines see.
    """
    tasks = [(variant.settings, variant.config, quiet or engine != "local") for variant in variants]
    yield from engine_by_name(engine).map(_train, tasks)


def _train(task: tuple[dict[str, Any], dict[str, Any], bool]) -> dict[str, Any]:
    from interplay.training.algorithms import train

    settings, config, quiet = task
    trained = train(build(Experiment, config), quiet=quiet)
    last = trained.curve[-1]
    row = {"return": last.get("return"), "returns": last.get("returns"), "steps": last.get("steps")}
    return settings | row | {"folder": config["output"]["folder"]}


def _choices(change: str) -> tuple[str, list[Any]]:
    """Split `place=a,b,c` into the place and its values; each is JSON, or else text."""
    place, equals, text = change.partition("=")
    if not equals or not place or not text:
        raise InterplayError(f"{change!r}: write the values of a setting as place=value,value, such as ppo.epochs=4,8")
    try:
        values = json.loads(f"[{text}]")
    except json.JSONDecodeError:
        values = text.split(",")
    return place, list(dict.fromkeys(values)) if all(not isinstance(v, (list, dict)) for v in values) else values
