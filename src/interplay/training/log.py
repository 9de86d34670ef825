"""Logs of a training run: JSON lines, progress on standard error, and wandb if asked."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from interplay import untrusted_files
from interplay.errors import InterplayError
from interplay.training.behaviour_rewards import HANDOVER_LOGS
from interplay.training.config import Experiment

PER_RUN = {"anchor_kl", "g1", "g2", "g3", "ad_entropy", "ard_entropy", "ic", "teaming", *HANDOVER_LOGS}


def row(
    experiment: Experiment,
    logs: Mapping[str, np.ndarray],
    first: int,
    many: int,
    wall_s: float,
    *,
    since: int,
    elapsed_s: float,
    steps_before: int = 0,
) -> dict[str, Any]:
    """Return the log line of a chunk of updates.

    Args:
        experiment: What is trained.
        logs: Numbers of the chunk, [update, run, ...]; a return without an episode is null.
        first: Updates before the chunk.
        many: Updates in the chunk.
        wall_s: Seconds since the last line. Two chunks may arrive together, so no speed is made of it.
        since: Updates that this process found done.
        elapsed_s: Seconds since this process began, compiling included.
        steps_before: Steps that continued policies had already.
    """
    score, episodes = logs["score"][:many].sum(axis=0), logs["episodes"][:many].sum(axis=0)  # [run, learner]
    of_members = [[_mean(s, e) for s, e in zip(*of_run)] for of_run in zip(score, episodes)]
    returns = [_mean(s, e) for s, e in zip(score.sum(axis=1), episodes.sum(axis=1))]
    known = [r for r in returns if r is not None]
    per_update = experiment.envs * experiment.rollout
    line = {
        "update": first + many,
        "steps": steps_before + (first + many) * per_update,
        "return": float(np.mean(known)) if known else None,
        "returns": returns,
        "member_returns": of_members,
        "episodes": int(episodes.max(axis=1).sum()),
        "wall_s": round(wall_s, 3),
        "steps_per_s": round((first + many - since) * per_update * experiment.runs / max(elapsed_s, 1e-9)),
    }
    rest = {k: v for k, v in logs.items() if k not in ("score", "episodes")}
    means = {name: float(np.mean(values[:many])) for name, values in rest.items()}
    for name in PER_RUN & set(rest):  # runs differ in what they are paid for, or in how closely they are held
        kept = rest[name][:many].reshape(many, experiment.runs, -1).mean(axis=(0, 2))
        line[f"{name}s"] = [float(x) if math.isfinite(x) else None for x in kept]
    return line | {name: value if math.isfinite(value) else None for name, value in means.items()}


def _mean(total: float, number: float) -> float | None:
    return float(total / number) if number else None


class Log:
    """The sinks of log lines."""

    def __init__(self, experiment: Experiment, folder: Path | None, what: str, *, start: int, quiet: bool):
        self._file = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open_at(folder / "log.jsonl", start)
        self._wandb = _wandb(experiment, what)
        self._shown = None if quiet else _Shown(experiment, what, start)

    def add(self, line: Mapping[str, Any]) -> None:
        """Write a line to all of them."""
        if self._file is not None:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
        if self._wandb is not None:
            self._wandb.log({k: v for k, v in line.items() if isinstance(v, int | float)}, step=line["steps"])
        if self._shown is not None:
            self._shown.add(line)

    def close(self) -> None:
        """Close all of them."""
        if self._file is not None:
            self._file.close()
        if self._wandb is not None:
            self._wandb.finish()
        if self._shown is not None:
            self._shown.close()


def read(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, without one that a killed run left unfinished."""
    lines = []
    for _, text in untrusted_files.lines(path) if path.exists() else ():
        try:
            lines.append(untrusted_files.parse_json(text, str(path)))
        except InterplayError:
            break
    return lines


def open_at(path: Path, update: int) -> Any:
    """Open the log for appending, without the lines after this update, which are trained again."""
    kept = [line for line in read(path) if line["update"] <= update]
    beside = path.with_name(f".{path.name}.writing")
    beside.write_text("".join(json.dumps(line) + "\n" for line in kept))
    beside.replace(path)
    return path.open("a")


def _wandb(experiment: Experiment, what: str) -> Any:
    if experiment.output.wandb is None:
        return None
    try:
        import wandb  # type: ignore[import-not-found]
    except ImportError:
        raise InterplayError("output.wandb: wandb is not installed; pip install wandb, or leave it at null") from None
    from interplay.training.loader import as_json

    return wandb.init(project=experiment.output.wandb, name=what, config=as_json(experiment))


class _Shown:
    """Progress on standard error: a bar where someone is looking, else a line now and then."""

    EVERY_S = 20.0

    def __init__(self, experiment: Experiment, what: str, start: int):
        self._total, self._what, self._last = experiment.updates, what, time.perf_counter()
        self._bar = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            speed = TextColumn("{task.fields[speed]}")
            columns = (TextColumn("{task.description}"), BarColumn(), speed, TimeElapsedColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task(what, total=self._total, completed=start, speed="compiling")

    def add(self, line: Mapping[str, Any]) -> None:
        points = "no episode yet" if line["return"] is None else f"return {line['return']:.1f}"
        speed = f"{points}, {line['steps_per_s']:,} steps/s"
        if self._bar is not None:
            self._bar.update(self._task, completed=line["update"], speed=speed)
        elif time.perf_counter() - self._last > self.EVERY_S or line["update"] == self._total:
            self._last = time.perf_counter()
            print(f"{self._what}: {line['update']}/{self._total} updates, {speed}", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
