"""`interplay paper llm play`, `table2` to `table5`, `figure2`, `figure3`, and `interplay paper ah2ac2 models`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from interplay.cli.commands.llm import Models
from interplay.cli.show import JsonOption, note, show
from interplay.trust import admit

if TYPE_CHECKING:
    from interplay.table import Table

Names = tuple[str, ...]
Folder = Annotated[Path, tyro.conf.Positional]


@dataclass(frozen=True, kw_only=True)
class PlayStudy:
    """Play the paper's runs with your models: every directed pairing by framework, and each role alone.

    By default all that the paper played: three frameworks, levels 1 to 3, ten episodes of each pairing and level, at
    temperature 0. The same command with the same --out goes on where it stopped; --frameworks, --dishes and --episodes
    make it smaller.

    Examples:
      interplay paper llm play --models openai/gpt-4o anthropic/claude-sonnet-4-0 --out teams
      interplay paper llm play --models openai/gpt-4o --frameworks baseline --levels 1 --episodes 2 --out small
      interplay paper llm play --models scripted/reference --frameworks baseline --episodes 1 --out check
    """

    models_: Annotated[Names, tyro.conf.arg(name="models")]
    """Models, each as chef and as assistant with every other."""
    out: Path
    """Folder of the study."""
    frameworks: Names = ("baseline", "proagent", "belief")
    """Scaffolds; the paper's AToM is belief."""
    levels: str = "1-3"
    """Levels of dishes."""
    dishes: Names = ()
    """Dishes by name in place of levels."""
    episodes: int = 10
    """Episodes of each pairing and level (or dish)."""
    horizon: int | None = None
    """Steps of an episode; by default the level's own."""
    alone: bool = True
    """Also play each role alone where cooperation is not required (Table 2)."""
    seed: int = 0
    """Names the episodes."""
    models: tyro.conf.OmitArgPrefixes[Models] = field(default_factory=Models)

    def run(self) -> int:
        """Play what is missing; return 2 if it stopped before its end."""
        from interplay.llm.plan import read_levels
        from interplay.llm.run_progress import watched
        from interplay.papers.llm import StudyPlan, play_study

        admit([name.partition("?")[0] for name in self.models_])
        plan = StudyPlan(
            models=self.models_,
            frameworks=self.frameworks,
            levels=read_levels(self.levels),
            dishes=self.dishes,
            episodes=self.episodes,
            horizon=self.horizon,
            seed=self.seed,
            settings=self.models.settings(),
        )
        with watched() as progress:
            stopped = play_study(plan, self.out, self.models.service(), progress, alone=self.alone)
        if stopped:
            note(f"stopped: {stopped}\nthe same command goes on")
            return 2
        note(f"study: {self.out}; interplay paper llm table3 {self.out}")
        return 0


@dataclass(frozen=True)
class _StudyResult(JsonOption):
    """A result that the function of its name in `papers.llm` makes of a study."""

    study: Folder
    """Folder that `interplay paper llm play` filled."""

    def _make(self) -> Any:
        from interplay.papers import llm

        return getattr(llm, type(self).__name__.removeprefix("LLM").lower())(llm.PaperStudy(self.study))

    def run(self) -> None:
        """Print ours beside the printed values."""
        show(self._make(), json=self.json)


@dataclass(frozen=True)
class _StudyFigure(_StudyResult):
    svg: Path | None = None
    """Write the picture to this file."""

    def _show(self, table: Table, picture: str, **more: Table) -> None:
        from interplay.reports.svg import standalone

        show(table, json=self.json, **({name: other.rows for name, other in more.items()} if self.json else {}))
        for other in () if self.json else more.values():
            show(other, json=False)
        if self.svg is not None and picture:
            self.svg.write_text(standalone(picture), encoding="utf-8")
            note(f"picture: {self.svg}")


@dataclass(frozen=True)
class LLMTable2(_StudyResult):
    """Table 2: success, steps, and what one role makes alone, where cooperation is not required.

    Examples:
      interplay paper llm table2 teams
    """


@dataclass(frozen=True)
class LLMTable3(_StudyResult):
    """Table 3: success, ADR and tokens of each model with itself, by framework.

    Examples:
      interplay paper llm table3 teams
    """


@dataclass(frozen=True)
class LLMTable4(_StudyResult):
    """Table 4: success and ADR by framework and level.

    Examples:
      interplay paper llm table4 teams
    """


@dataclass(frozen=True)
class LLMTable5(_StudyResult):
    """Table 5: ADR with the level's window and with 20 steps.

    Examples:
      interplay paper llm table5 teams
    """


@dataclass(frozen=True)
class LLMFigure2(_StudyFigure):
    """Figure 2: verifier errors by directed pairing.

    Examples:
      interplay paper llm figure2 teams --svg figure2.svg
    """

    def run(self) -> None:
        """Print the numbers, and write the picture."""
        table, picture = self._make()
        self._show(table, picture)


@dataclass(frozen=True)
class LLMFigure3(_StudyFigure):
    """Figure 3: outcomes of requests by level; success, waste and uptake by pairing.

    Examples:
      interplay paper llm figure3 teams --svg figure3.svg
    """

    def run(self) -> None:
        """Print the numbers, and write the picture of success against waste."""
        outcomes, pairings, picture = self._make()
        self._show(outcomes, picture, pairings=pairings)


@dataclass(frozen=True)
class HanabiModels(JsonOption):
    """The challenge's table of language models in Hanabi: your games beside the printed scores.

    TRACES are folders of `interplay llm play --game hanabi/2p --agents llm:... llm:...`.

    Examples:
      interplay paper ah2ac2 models games
      interplay paper ah2ac2 models games --json
    """

    traces: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of games."""

    def run(self) -> None:
        """Print ours beside the printed values."""
        from interplay.papers.llm import hanabi_models

        show(hanabi_models(self.traces), json=self.json)
