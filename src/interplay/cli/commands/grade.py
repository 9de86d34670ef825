"""`interplay grade`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from interplay.cli.commands.play import tell_fallbacks
from interplay.cli.show import PlayOptions, note, show
from interplay.config import options
from interplay.errors import InterplayError


@dataclass(frozen=True, kw_only=True)
class GradeCommand(PlayOptions):
    """Grade an agent: it plays with every partner of a panel, in every seat. Prints a table and the report's path.

    Examples:
      interplay grade --game overcooked/counter_circuit --agent overcooked/greedy
      interplay grade --game overcooked/forced_coordination --agent my_package:MyPolicy --episodes 50 --out grades/mine
      interplay grade --game overcooked/cramped_room --agent random --partners overcooked/greedy stay --json
      interplay grade --game football/keepaway --agent football/passer --mixed
    """

    game: str
    """The game: a name of `interplay list games`, or module:Thing."""
    agent: str
    """The agent to grade: a name of `interplay list agents`, or module:Thing."""
    panel: str | None = None
    """The panel: a name of `interplay list panels`, or a folder; by default the game's own."""
    partners: tuple[str, ...] = ()
    """Partners of your own choice in place of a panel."""
    mixed: bool = False
    """In games of more than two seats: the other seats are filled with every ordered set of partners, not with one."""
    episodes: int = 20
    """Episodes for each partner and seat, at least 20."""
    seed: int = 0
    """Results depend on the seed and the teams alone."""
    out: Path | None = None
    """Folder for report and traces; by default a new one under out/."""

    def run(self) -> int:
        """Grade the agent, print the tables, and say where the report is; 2 if a model could not be asked any more."""
        from interplay import api
        from interplay.partners.grade import LEAST_EPISODES

        if self.episodes < LEAST_EPISODES:
            raise InterplayError(
                f"--episodes {self.episodes}: a grade needs at least {LEAST_EPISODES} for each partner and seat"
            )
        game = api.make(self.game, **options(self.options))
        graded = api.grade(
            self.agent,
            game,
            panel=self.panel,
            partners=self.partners,
            mixed=self.mixed,
            episodes=self.episodes,
            seed=self.seed,
            out=self.out,
            engine=self.engine,
            progress=True,
        )
        standing = graded.grade.standing
        grade_facts = {"grade": graded.grade.overall.rows[0], "standing": None if standing is None else standing.rows}
        measured = api.measured_traces(graded.traces) if "llm:" in self.agent else None
        scores = api.team_scores(measured, seed=self.seed) if measured is not None else None
        if scores is not None:
            grade_facts["fallback"] = {row["agents"]: row["fallback"] for row in scores}
        show(graded.table, json=self.json, cells=graded.grade.cells.rows, report=str(graded.report), **grade_facts)
        if not self.json:
            show(graded.grade.overall, json=False)
            if standing is not None:
                show(standing, json=False)
        note(f"report: {graded.report}")
        if measured is None or scores is None:
            return 0
        if not self.json:
            show(scores, json=False)
        return tell_fallbacks(scores, measured)
