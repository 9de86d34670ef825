"""Progress of a run on standard error: episodes, tokens, and the cost so far."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from interplay.agents.llm.limits import Usage

EVERY_S = 15.0  # seconds between two lines


def spent(meter: Usage) -> str:
    """What a run has used, in words; a cost that is not wholly known is said to be so."""
    words = f"{meter.calls:,} calls, {meter.tokens:,} tokens"
    if meter.tokens_estimated:
        words += f" ({meter.tokens_estimated:,} of them estimated, since the provider does not count)"
    if meter.calls and meter.unpriced == meter.calls:
        return f"{words}, cost unknown"
    more = f" and {meter.unpriced:,} calls of unknown price" if meter.unpriced else ""
    return f"{words}, ${meter.cost:,.4f}{more} (paid now: ${meter.spent:,.4f})"


@contextmanager
def watched() -> Iterator[Callable[[int, int, Usage], None]]:
    """Show progress: a bar on a terminal, else a line now and then.

    Yields:
        A function to call with the episodes done, the episodes planned and the usage so far.
    """
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich import progress as rich
    from rich.console import Console

    counts = (rich.TextColumn("episodes"), rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeElapsedColumn())
    used = rich.TextColumn("{task.description}")
    with rich.Progress(*counts, used, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, planned, meter: bar.update(task, completed=done, total=planned, description=spent(meter))


def _lines() -> Callable[[int, int, Usage], None]:
    last = [time.monotonic()]

    def tell(done: int, planned: int, meter: Usage) -> None:
        if time.monotonic() - last[0] >= EVERY_S:
            last[0] = time.monotonic()
            print(f"{done} of {planned} episodes; {spent(meter)}", file=sys.stderr)

    return tell
