"""`interplay play` and `interplay crossplay`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from interplay.cli.show import PlayOptions, note, show
from interplay.config import options
from interplay.table import Table

if TYPE_CHECKING:
    from interplay.metrics.measured_traces import MeasuredTraces


@dataclass(frozen=True, kw_only=True)
class PlayCommand(PlayOptions):
    """Let agents play a game, one for each seat, and keep the traces.

    Examples:
      interplay play --game overcooked/counter_circuit --agents overcooked/onion_passer overcooked/onion_receiver
      interplay play --game overcooked/cramped_room --agents overcooked/greedy random+0.5 --episodes 100 --out traces
      interplay play --game overcooked/cramped_room --options players=3 horizon=200 --agents random random stay
    """

    game: str
    """The game: a name of `interplay list games`, or module:Thing."""
    agents: tuple[str, ...]
    """One for each seat: names of `interplay list agents` (NAME+0.1 acts at random in a tenth of its turns), or
    module:Thing."""
    episodes: int = 20
    """Episodes to play."""
    seed: int = 0
    """Results depend on the seed and the team alone."""
    out: Path | None = None
    """Folder for the traces; none are kept without it."""

    def run(self) -> int:
        """Play the episodes and print the team's scores."""
        from interplay import api

        game = api.make(self.game, **options(self.options))
        traces = api.play(
            game, self.agents, episodes=self.episodes, seed=self.seed, out=self.out, engine=self.engine, progress=True
        )
        measured = api.measured_traces(traces)
        scores = api.team_scores(measured, seed=self.seed)
        show(scores, json=self.json, out=str(self.out) if self.out else None)
        if self.out:
            note(f"traces: {self.out}")
        return tell_fallbacks(scores, measured)


@dataclass(frozen=True, kw_only=True)
class Crossplay(PlayCommand):
    """Every agent with every agent, in every seating, self-play included.

    Examples:
      interplay crossplay --game overcooked/cramped_room --agents overcooked/greedy overcooked/onion_only random
      interplay crossplay --game overcooked/counter_circuit --agents overcooked/greedy stay --episodes 100
        --out traces --report crossplay.html
    """

    agents: tuple[str, ...]
    """Names of `interplay list agents`, or module:Thing."""
    episodes: int = 20
    """Episodes for each team."""
    report: Path | None = None
    """Where to write an HTML report."""

    def run(self) -> int:
        """Play all teams and print their scores."""
        from interplay import api

        game = api.make(self.game, **options(self.options))
        traces = api.crossplay(
            game, self.agents, episodes=self.episodes, seed=self.seed, out=self.out, engine=self.engine, progress=True
        )
        measured, written = api.measured_traces(traces), None
        if self.report:
            report, scores = api.report_with_scores(measured, self.report, seed=self.seed)
            written = report.path
        else:
            scores = api.team_scores(measured, seed=self.seed)
        show(scores, json=self.json, report=str(written) if written else None)
        for what, where in (("traces", self.out), ("report", written)):
            if where:
                note(f"{what}: {where}")
        return tell_fallbacks(scores, measured)


def tell_fallbacks(scores: Table, measured: MeasuredTraces) -> int:
    """Warn of language models that did not choose their moves; return 2 if one could not be asked any more."""
    if "fallback" not in scores.columns:
        return 0
    from interplay.metrics.model_calls import fallback_warnings, outage

    for warning in fallback_warnings(scores):
        note(warning)
    reason = outage(measured.samples)
    if reason:
        note(f"a model could not be asked any more: {reason}")
    return 2 if reason else 0
