"""`interplay replay`."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import note, show
from interplay.errors import InterplayError


@dataclass(frozen=True)
class ReplayCommand:
    """Replay a trace set: verify every episode against its record, or watch one.

    Examples:
      interplay replay traces --verify --json
      interplay replay traces --episode 3
      interplay replay traces --episode 3 --at 120 --svg moment.svg
      interplay replay traces --episode 3 --gif episode.gif
    """

    traces: Annotated[Path, tyro.conf.Positional]
    """Folder of a trace set."""
    verify: bool = False
    """Replay every episode and compare checksums, scores and endings with the record."""
    episode: int = 0
    """The episode to watch, by its number in the set."""
    at: int | None = None
    """Show the state after this many steps only."""
    gif: Path | None = None
    """Write the episode as a GIF."""
    png: Path | None = None
    """Write the state (of --at, or the last) as a PNG."""
    svg: Path | None = None
    """Write the state (of --at, or the last) as an SVG."""
    fps: float = 8.0
    """Steps a second when watching, and of the GIF."""
    json: bool = False
    """Print one JSON object (with --verify)."""

    def run(self) -> int:
        """Verify the set or show an episode, and return the exit code."""
        from interplay.traces import TraceSet

        traces = TraceSet.open(self.traces)
        if self.verify:
            return self._verify(traces)
        if self.json:
            raise InterplayError("--json goes with --verify; use `interplay export` for the episodes themselves")
        self._watch(traces)
        return 0

    def _verify(self, traces) -> int:
        from interplay.progress import bar
        from interplay.traces import verify

        with bar("verifying", len(traces)) as advance:
            report = verify(traces, progress=advance)
        extra = {"episodes": report.episodes, "steps": report.steps, "games": list(report.games), "ok": report.ok}
        if self.json or not report.ok:
            show(report.table(), json=self.json, unreplayable=report.unreplayable, **extra)
        message = f"{report.episodes} episodes, {report.steps} steps verified"
        if report.unreplayable:
            message += f"; the recorded states of {report.unreplayable} episodes, whose games have chance, agree"
        note(message if report.ok else f"{message}; {len(report.problems)} problems")
        return 0 if report.ok else 1

    def _watch(self, traces) -> None:
        from interplay.games import raster
        from interplay.traces import game_of, replay

        numbers = traces.numbers.tolist()
        if self.episode not in numbers:
            there = f"it has {len(numbers)}, from {numbers[0]} to {numbers[-1]}"
            raise InterplayError(f"{self.traces} has no episode {self.episode}; {there}")
        episode = traces[numbers.index(self.episode)]
        game, replayed = game_of(episode), replay(game_of(episode), episode)
        at = episode.length if self.at is None else self.at
        if not 0 <= at <= episode.length:
            raise InterplayError(f"--at {at}: the episode has the states 0 to {episode.length}")
        if self.gif:
            raster.gif([game.scene(replayed.state(t)) for t in range(episode.length + 1)], self.gif, fps=self.fps)
        if self.png:
            self.png.write_bytes(game.scene(replayed.state(at)).png())
        if self.svg:
            self.svg.write_text(game.scene(replayed.state(at)).svg())
        for path in filter(None, (self.gif, self.png, self.svg)):
            note(f"written: {path}")
        if self.gif or self.png or self.svg:
            return
        moments = [at] if self.at is not None else range(episode.length + 1)
        for t in moments:
            print(game.render(replayed.state(t)), flush=True)
            if sys.stdout.isatty() and self.at is None:
                time.sleep(1 / self.fps)
