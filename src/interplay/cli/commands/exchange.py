"""`interplay import`, `interplay export` and `interplay sql`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from interplay.cli.show import JsonOption, note, show
from interplay.config import options
from interplay.errors import InterplayError

RecordingKind = Literal["overcooked-ai", "overcooked-web", "hanabi-humans", "hanab-live", "ah2ac2", "jsonl"]


@dataclass(frozen=True)
class Import(JsonOption):
    """Turn others' recordings into traces.

    overcooked-ai: the human-human games of 2019; SOURCE is the source archive of overcooked-ai 1.1.0 from PyPI, a
    folder that holds its pickles, or one pickle.
    overcooked-web: rounds of web studies in the JSON of overcooked-demo, one file a round
    (D_M_YYYY_h_m_s_human=SEAT.json); SOURCE is their folder. Who the partner was stands in its partners.csv (columns
    file, partner and, if known, person), or in the table of --partners. Personal fields are never read.
    hanabi-humans: the human-AI Hanabi games and surveys of 2017 (HanabiData); SOURCE is games.jsonl.gz or its folder.
    hanab-live: export JSON of hanab.live; SOURCE is a file with one game, a list or a game a line, or a folder of them.
    ah2ac2: the data sets of the ad-hoc human-AI coordination challenge; SOURCE is one .safetensors file.
    jsonl: JSON lines as `interplay export` writes them.

    Every game is played again and must give the score that its source tells. One that does not, or that holds a move
    which no rule set of ours allows, is named with the reason, and nothing is imported unless --partial says so.

    Examples:
      interplay import overcooked-ai overcooked_ai-1.1.0.tar.gz --out humans
      interplay import overcooked-ai clean_train_trials.pickle --out humans --json
      interplay import overcooked-web rounds --out traces --partners who.csv --partial
      interplay import hanabi-humans hanabi_humans --out humans
      interplay import hanab-live game.json --out games
      interplay import jsonl traces.jsonl --out traces
    """

    kind: Annotated[RecordingKind, tyro.conf.Positional]
    """Which recordings."""
    source: Annotated[Path, tyro.conf.Positional]
    """Where they are."""
    out: Path
    """Folder for the traces."""
    partners: Path | None = None
    """For overcooked-web: CSV that says who the partner of each file was."""
    partial: bool = False
    """Import what can be imported, and name the rest."""

    def run(self) -> None:
        """Import the recordings and print the episodes by game."""
        from interplay import api

        if self.partners is not None and self.kind != "overcooked-web":
            raise InterplayError("--partners tells the partners of overcooked-web; the other recordings name theirs")
        options = {} if self.partners is None else {"partners": self.partners}
        traces = api.import_traces(self.kind, self.source, self.out, partial=self.partial, **options)
        left_out = list(traces.manifest.meta["left_out"])
        counts = api.episodes_by_game(traces)
        show(counts, json=self.json, episodes=len(traces), out=str(self.out), left_out=left_out)
        for game in left_out:
            note(f"left out: {game}")
        note(f"traces: {self.out}")


@dataclass(frozen=True)
class ExportCommand:
    """Write a trace set as JSON lines (all of it) or CSV (a row per episode), or in the form of another program.

    Other forms are games of Hanabi for hanab.live; an episode as PDDL (domain, problem and the plan that was played,
    and, where the game has a planning model, a task that a planner can solve); and recorded games to learn from (the
    small .npz that the algorithm bc reads). For hanab.live there is a game a line: to open it, paste the line there
    under "Watch specific replay", "JSON data".

    Examples:
      interplay export traces --out traces.jsonl
      interplay export traces --to csv --out episodes.csv
      interplay export traces --to csv | head
      interplay export traces --to hanab-live --episodes 3 --out game.json
      interplay export humans --to recorded --learn human --out humans.npz
      interplay export traces --to pddl --episodes 0 --out episode
    """

    traces: Annotated[Path, tyro.conf.Positional]
    """Folder of a trace set."""
    to: Literal["jsonl", "csv", "hanab-live", "recorded", "pddl"] = "jsonl"
    """The form."""
    learn: tuple[str, ...] | None = None
    """For recorded: only the seats of these agents are to be learnt from; by default everybody's."""
    episodes: tuple[int, ...] | None = None
    """For hanab-live and pddl: only these, by number."""
    out: Path | None = None
    """The file (pddl: the folder); standard output by default."""

    def run(self) -> None:
        """Write the trace set in the form that is asked for."""
        from interplay.traces import TraceSet, episodes_csv, write_jsonl

        traces = TraceSet.open(self.traces)
        if self.episodes is not None and self.to not in ("hanab-live", "pddl"):
            raise InterplayError("--episodes chooses games for --to hanab-live and pddl; others write the whole set")
        if self.learn is not None and self.to != "recorded":
            raise InterplayError("--learn chooses whom to learn from, for --to recorded")
        if self.to == "pddl":
            count = self._pddl(traces)
        elif self.to == "recorded":
            count = self._recorded(traces)
        elif self.to == "jsonl":
            count = write_jsonl(traces, self.out if self.out else sys.stdout)
        elif self.to == "hanab-live":
            from interplay.traces.importers.hanab_live import write_hanab_live

            count, cut = write_hanab_live(traces, self.out if self.out else sys.stdout, episodes=self.episodes)
            for message in cut:
                note(f"written in part: {message}")
        else:
            text, count = episodes_csv(traces), len(traces)
            if self.out:
                self.out.write_text(text)
            else:
                sys.stdout.write(text)
        if self.out:
            note(f"{count} episodes: {self.out}")

    def _pddl(self, traces) -> int:
        from interplay.symbolic.planning import write_episode

        if self.out is None:
            raise InterplayError("an episode as PDDL is several files: say into which folder with --out")
        numbers = (0,) if self.episodes is None else self.episodes
        for number in numbers:
            if not 0 <= number < len(traces):
                raise InterplayError(f"--episodes {number}: the set has the episodes 0 to {len(traces) - 1}")
            write_episode(traces[number], self.out if len(numbers) == 1 else self.out / str(number))
        return len(numbers)

    def _recorded(self, traces) -> int:
        from interplay.rollout.recorded_games import save
        from interplay.traces.imitation_data import recorded_games

        if self.out is None:
            raise InterplayError("recorded games are one .npz file: say where with --out")
        games = recorded_games(traces, self.learn)
        save(self.out, games)
        return len(games)


@dataclass(frozen=True)
class Sql(JsonOption):
    """Ask a trace set in SQL. Tables: episodes, seats, actions, named_actions, action_names, checksums, events.

    With --metrics there is also `measurements`: the rows that `interplay measure` gives.

    Examples:
      interplay sql traces "select game, count(*), avg(score) from episodes group by game"
      interplay sql traces "select agent, name, count(*) as times from named_actions group by all" --json
      interplay sql traces "select agent, metric, avg(value) from measurements group by all" --metrics hanabi/dominance
    """

    traces: Annotated[Path, tyro.conf.Positional]
    """Folder of a trace set."""
    query: Annotated[str, tyro.conf.Positional]
    """A SELECT."""
    metrics: tuple[str, ...] = ()
    """Names of `interplay list metrics`, whose rows are the table `measurements`."""
    options: tuple[str, ...] = ()
    """Options of the metrics as name=value."""

    def run(self) -> None:
        """Run the query and print its rows."""
        from interplay import api
        from interplay.traces import query

        tables = {}
        if self.metrics:
            tables["measurements"] = api.measure(self.traces, self.metrics, progress=True, **options(self.options))
        elif self.options:
            raise InterplayError("--options are of metrics: name these with --metrics")
        show(query(self.traces, self.query, tables), json=self.json)
