"""The functions that `import interplay` offers: play, cross-play, measure, grade, compare, report."""

from __future__ import annotations

import html
import operator
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.errors import InterplayError
from interplay.progress import bar
from interplay.trust import TrustWarning, admit, is_reference

if TYPE_CHECKING:
    from interplay.agents.api import Agent
    from interplay.games.api import Game
    from interplay.metrics.measured_traces import MeasuredTraces
    from interplay.partners.compare import Comparison
    from interplay.partners.grade import Grade
    from interplay.rollout.teams import Team
    from interplay.symbolic.certify import Certificate
    from interplay.table import Table
    from interplay.traces import TraceSet

PART = 512  # episodes written at a time: a killed run loses no more


def make(name: str, **options: Any) -> Game:
    """Make the game of this name, such as `overcooked/counter_circuit`, or what `module:Thing` names.

    Args:
        name: A registered game, or a reference to a class or function of yours, which is called with the options.
        options: The game's options; `interplay list games` shows which there are.
    """
    from interplay.games import registry

    _require_name("game", name)
    return registry.make(name, **options)


def agent(name: str, **options: Any) -> Agent:
    """Find the agent of this name.

    Args:
        name: A registered agent (`overcooked/greedy`, `trained/...`), the path of a checkpoint, `llm:provider/model`,
            or a reference `module:Thing` or `file.py:thing` to your own. `NAME+0.1` acts at random in one turn of
            ten, `greedy:NAME` takes a trained policy's likeliest actions. Where a game is played with an agent,
            `{layout}` in its name is the place for the game's layout.
        options: The agent's options.
    """
    from interplay.agents import registry

    _require_name("agent", name)
    return registry.agent(name, **options)


def play(
    game: Game | str,
    agents: Sequence[Any],
    *,
    episodes: int = 100,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    engine: str = "local",
    batch: int | None = None,
    progress: bool = False,
) -> TraceSet:
    """Let agents (one for each seat: names, policies, players) play; their traces, in memory or in a folder `out`."""
    from interplay.rollout.teams import Team

    admit(agents)
    world = _game(game)
    return _record(world, [Team.of(world, agents)], episodes, seed, out, engine, batch, progress)


def crossplay(
    game: Game | str,
    agents: Sequence[Any],
    *,
    episodes: int = 100,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    engine: str = "local",
    batch: int | None = None,
    progress: bool = False,
) -> TraceSet:
    """Every agent with every agent in every seating, self-play included."""
    from interplay.rollout.teams import all_teams

    admit(agents)
    world = _game(game)
    return _record(world, all_teams(world, agents), episodes, seed, out, engine, batch, progress)


def measure(
    traces: TraceSet | str | os.PathLike[str],
    metrics: Sequence[Any] = ("score",),
    *,
    mean: bool = False,
    engine: str = "local",
    progress: bool = False,
    **options: Any,
) -> Table:
    """Metrics of a trace set as one tidy table.

    Args:
        traces: A trace set or its folder.
        metrics: Names of `interplay list metrics`, or metrics.
        mean: Average over the episodes of each team; a value missing in all of them stays missing.
        engine: Where the work runs: `local`, or `ray`.
        progress: Show a progress bar.
        options: Options of the metrics.
    """
    from interplay.metrics.api import measure as measure_set

    trace_set = read_traces(traces)
    with bar("measuring", len(trace_set), show=progress) as advance:
        return measure_set(trace_set, metrics, progress=advance, engine=engine, mean=mean, **options)


def write_measured(
    traces: TraceSet | str | os.PathLike[str],
    metrics: Sequence[Any],
    path: Path,
    *,
    engine: str = "local",
    **options: Any,
) -> int:
    """Measure a trace set of any size into a .csv or .parquet file, with a progress bar; the number of its rows."""
    from interplay.metrics.api import write_measured as write

    trace_set = read_traces(traces)
    with bar("measuring", len(trace_set), show=True) as advance:
        return write(trace_set, metrics, path, progress=advance, engine=engine, **options)


def team_scores(traces: TraceSet | MeasuredTraces, *, seed: int = 0) -> Table:
    """A row per team: its mean score with an interval; with language models also the share of their fallback moves.

    Args:
        traces: Traces, or what was measured of them already.
        seed: Seeds the bootstrap.
    """
    from interplay.metrics.measured_traces import MeasuredTraces
    from interplay.stats import interval_table
    from interplay.table import Table

    measured = traces if isinstance(traces, MeasuredTraces) else MeasuredTraces(traces)
    by = [c for c in ("game", "agents", "privileged", "scoring") if c in measured.scores.columns]
    intervals = interval_table(measured.scores, by=by, seed=seed, statistic="mean")
    rows = [
        {**{b: r[b] for b in by}, "mean": r["estimate"], "low": r["low"], "high": r["high"], "episodes": r["n"]}
        for r in intervals
    ]
    if any("llm:" in row["agents"] for row in rows):
        from interplay.metrics.model_calls import fallback_by_team

        shares = fallback_by_team(measured.samples)
        rows = [row | {"fallback": shares.get((row["game"], row["agents"]))} for row in rows]
    return Table.of(rows, "Mean score of each team, with its 95 % interval")


# What a row of a table of measurements is of; all else says which value it is.
UNITS = (
    "game", "options", "episode", "agents", "privileged", "seed", "seat", "agent", "algorithm", "partner", "over",
    "giver", "receiver", "policy",
)  # fmt: skip


def wide(table: Table) -> Table:
    """A table of measurements with a row for each episode, seat, agent or pairing, and a column for each metric.

    Several values of one metric are told apart by what differs: `g1 public` and `g1 seen`. The rule of scoring stands
    in the title where it is one.

    Raises:
        InterplayError: The table lists moments (`detail`), or there are too many columns.
    """
    if "t" in table.columns or "gave_t" in table.columns:
        raise InterplayError("a list of moments has no wide form: leave out detail, or wide")
    rules = {row.get("scoring") for row in table} - {None}
    by_rule = ["scoring"] if len(rules) > 1 else []
    title = f"{table.title} ({rules.pop()})" if len(rules) == 1 else table.title
    return replace(table, title=title).pivot([*UNITS, *by_rule])


@dataclass(frozen=True)
class Graded:
    """A grade with its traces and the path of its report."""

    grade: Grade
    traces: TraceSet
    report: Path

    @property
    def table(self) -> Table:
        """A row per partner."""
        return self.grade.partners

    def _repr_html_(self) -> str:
        """The grade as a notebook shows it."""
        return self.grade._repr_html_()


def grade(
    agent: Any,
    game: Game | str,
    *,
    panel: str | None = None,
    partners: Sequence[str] = (),
    mixed: bool = False,
    episodes: int = 20,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    engine: str = "local",
    progress: bool = False,
) -> Graded:
    """Play an agent with every partner of a panel in every seat, and write a report (into a new folder by default).

    In a game of more than two seats a partner has all other seats, unless the panel says who sits together; `mixed`
    fills them with every ordered set of the panel's partners.
    """
    from interplay.agents.api import as_agent
    from interplay.partners import grade as grading
    from interplay.partners.panels import panel as find_panel
    from interplay.reports.trace_report import grade_document

    admit([agent, *partners])
    world = _game(game)
    ego = as_agent(agent, game=world)
    chosen = find_panel(world, panel, partners)
    chosen = chosen.mixed(world.num_seats) if mixed else chosen
    folder = Path(out) if out is not None else new_folder("grade")
    teams = grading.teams(world, ego, chosen)
    traces = _record(world, teams, episodes, seed, folder / "traces", engine, None, progress)
    summary = grading.summarise(traces, world, ego, chosen, seed)
    provenance = {"panel": f"{chosen.name} ({chosen.hash(world)})", "seed": seed, "traces": "traces/ beside this file"}
    tables = (summary.overall, summary.partners, summary.cells)
    document = grade_document(world, summary.measured, *tables, provenance, summary.standing)
    return Graded(summary, traces, document.write(folder / "report.html"))


def panel_page(panel: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> tuple[Table, Path]:
    """The partners of a panel (a folder, or a game with a shipped one) as a table, and a page about them."""
    from interplay.partners import tables
    from interplay.reports.behaviour_figures import panel_report

    loaded = tables.find(os.fspath(panel))
    members, sides = tables.members_table(loaded), tables.behaviour(loaded)
    behaviour = {tables.SIDES[side]: (f.ids, f.names, f.values) for side, f in sides.items()}
    selected = {m.candidate for m in loaded.members}
    provenance = {"game": loaded.game["id"], "rules": loaded.game["rules_version"], "panel": loaded.file_hash}
    provenance |= dict(loaded.provenance.get("made_with", {}))
    name = f"Panel {loaded.name} for {loaded.game['id']}"
    page = panel_report(name, members, behaviour, selected, tables.diversity_table(loaded), provenance)
    return members, page.write(Path(out) if out is not None else new_folder("panel") / "panel.html")


@dataclass(frozen=True)
class WrittenReport:
    """A report: an HTML page that needs nothing from outside. A notebook shows it, replays included."""

    html: str
    path: Path | None  # where it was written

    def __fspath__(self) -> str:
        """The file that it was written to."""
        return os.fspath(self.path or "")

    def _repr_html_(self) -> str:
        """The page in a frame of its own."""
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 1px solid #ccc"></iframe>'


def report(
    traces: TraceSet | str | os.PathLike[str] | MeasuredTraces,
    out: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    replays: Sequence[int] | None = None,
    bundle: bool = False,
    seed: int = 0,
) -> WrittenReport:
    """Make a report of a trace set: who scores what with whom, who helps whom, with replays of chosen episodes.

    Args:
        traces: A trace set, its folder, or one that was measured already.
        out: The HTML file to write, or with `bundle` a folder; None: write none, show it in a notebook.
        title: The report's title.
        replays: Numbers of the episodes to show; by default the best and the worst.
        bundle: Write a folder with the report, its figures as SVG and its tables as CSV and JSON.
        seed: Of the bootstrap.
    """
    return report_with_scores(measured_traces(traces, replays), out, title=title, bundle=bundle, seed=seed)[0]


def report_with_scores(
    measured: MeasuredTraces,
    out: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    bundle: bool = False,
    seed: int = 0,
) -> tuple[WrittenReport, Table]:
    """As `report`, with the table of team scores that it shows."""
    from interplay.reports.trace_report import trace_document

    scores = team_scores(measured, seed=seed)
    document = trace_document(measured, scores, title=title)
    if out is None:
        return WrittenReport(document.html(), None), scores
    written = document.write_bundle(Path(out)) if bundle else document.write(Path(out))
    page = written / "report.html" if bundle else written
    return WrittenReport(page.read_text(encoding="utf-8"), written), scores


def counterfactual(
    traces: TraceSet | str | os.PathLike[str], policies: Any = "registered", *, progress: bool = False, **options: Any
) -> Table:
    """What partners and hand-overs were worth in points: the same play with and without them.

    Args:
        traces: A trace set or its folder.
        policies: "registered" to find the agents by the names in the traces, a table from these names to agents, or a
            list with an agent for each seat.
        progress: Show a progress bar.
        options: `samples`, `seed`, `ways`, `most` and `episodes`, as `interplay list metrics` tells them.
    """
    return measure(traces, ["counterfactual"], progress=progress, policies=policies, **options)


def certify(game: Game | str) -> Certificate:
    """Decide by search whether a game requires cooperation, with plans that prove it."""
    from interplay.symbolic.certify import certify as certify_game

    return certify_game(_game(game))


def compare(
    agents: Sequence[Any],
    game: Game | str,
    *,
    panel: str | None = None,
    partners: Sequence[str] = (),
    episodes: int = 20,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    engine: str = "local",
    progress: bool = False,
) -> Comparison:
    """Play several agents with every partner of one panel, in every seat, with the same chance for all of them.

    Args:
        agents: Two or more agents (names, policies, players).
        game: The game.
        panel: The panel's name or folder; by default the game's own.
        partners: Partners of your own choice in place of a panel.
        episodes: Episodes for each agent, partner and seat.
        seed: Seeds all chance.
        out: Folder for a report and the traces; None: none are written.
        engine: Where the games are played: `local`, or `ray`.
        progress: Show a progress bar.

    Returns:
        Mean scores, paired differences with intervals over partners, and the same partner by partner.
    """
    from interplay.agents.api import as_agent
    from interplay.partners import compare as comparing
    from interplay.partners.panels import panel as find_panel
    from interplay.reports.table_report import build_report

    admit([*agents, *partners])
    world = _game(game)
    known = [as_agent(agent, game=world) for agent in agents]
    chosen = find_panel(world, panel, partners)
    teams = comparing.teams(world, known, chosen)
    folder = None if out is None else Path(out)
    into = None if folder is None else folder / "traces"
    traces = _record(world, teams, episodes, seed, into, engine, None, progress)
    comparison = comparing.summarise(traces, world, known, chosen, seed)
    if folder is not None:
        tables = {"agents": comparison.agents, "differences": comparison.differences, "partners": comparison.by_partner}
        names = " and ".join(agent.name for agent in known)
        provenance = {"panel": f"{chosen.name} ({chosen.hash(world)})", "seed": seed, "traces": "traces/"}
        document = build_report(tables, title=f"{names} in {world.id}", intro=COMPARE_INTRO, provenance=provenance)
        document.write(folder / "report.html")
    return comparison


COMPARE_INTRO = (
    "All agents met the same partners in the same seats and episodes, with the same chance. A difference is the first "
    "agent's score minus the second's in the same episode; its interval treats the partners as a sample of those that "
    "the agents might meet. *wins*, *losses* and *ties* count episodes."
)


def measured_traces(
    traces: TraceSet | str | os.PathLike[str] | MeasuredTraces, shown: Sequence[int] | None = None
) -> MeasuredTraces:
    """A trace set, read once for all that is asked of it."""
    from interplay.metrics.measured_traces import MeasuredTraces

    return traces if isinstance(traces, MeasuredTraces) else MeasuredTraces(read_traces(traces), shown=shown)


def read_traces(traces: TraceSet | str | os.PathLike[str], *, trust: bool = False) -> TraceSet:
    """Open a trace set.

    Args:
        traces: Its folder.
        trust: Let its games name code (`module:Thing`), which then runs as you; each name is told in a warning.
    """
    from interplay.traces import TraceSet

    opened = traces if isinstance(traces, TraceSet) else TraceSet.open(traces)
    if trust:
        names = {row["game"] for row in opened.summary()}
        for name in sorted(name for name in names if is_reference(name)):
            warnings.warn(f"these traces may run code: {name}", TrustWarning, stacklevel=2)
            admit([name])
    return opened


def import_traces(
    kind: str, source: str | os.PathLike[str], out: str | os.PathLike[str], *, partial: bool = False, **options: Any
) -> TraceSet:
    """Others' recordings as a trace set in a folder.

    With `partial`, games that cannot be imported are left out and named in the set's manifest (`meta["left_out"]`).
    `options` are the importer's own, such as `partners` of overcooked-web.
    """
    from interplay.traces import TraceSet
    from interplay.traces.importers.registry import IMPORTERS, sort_out

    # Nothing is written if the source turns out to be unreadable.
    episodes, left = sort_out(IMPORTERS.load(kind)(source, **options), partial=partial)
    if not episodes:
        raise InterplayError(f"{os.fspath(source)} holds no games, so nothing was imported")
    meta = {"imported": kind, "source": os.path.basename(os.fspath(source)), "left_out": [str(item) for item in left]}
    traces = TraceSet.create(out, meta)
    with traces.writer(episodes=PART) as writer:
        for episode in episodes:
            writer.add(episode)
    return traces


def episodes_by_game(traces: TraceSet) -> Table:
    """How many episodes and steps of each game a set holds."""
    from interplay.table import Table

    rows = []
    for (game,), part in traces.summary().groups("game").items():
        rows.append({"game": game, "episodes": len(part), "steps": sum(part.column("length"))})
    return Table.of(rows, "Episodes")


def new_folder(name: str) -> Path:
    """A folder under out/ that is not there yet."""
    number = 1
    while (folder := Path("out") / f"{name}-{number}").exists():
        number += 1
    return folder


def _game(game: Game | str) -> Game:
    from interplay.games.registry import as_game

    return as_game(game)


def _require_name(kind: str, name: Any) -> None:
    if not isinstance(name, str):
        raise InterplayError(f"{kind}: {name!r:.80}; give its name")
    admit([name])


def _whole(name: str, value: Any) -> int:
    """A whole number that a person gave, which may be NumPy's."""
    try:
        return operator.index(value)
    except TypeError:
        raise InterplayError(f"{name}: {value!r:.40}; give a whole number") from None


def _record(
    game: Game,
    teams: Sequence[Team],
    episodes: int,
    seed: int,
    out: str | os.PathLike[str] | None,
    engine: str,
    batch: int | None,
    progress: bool,
) -> TraceSet:
    from interplay.rollout.engine import DEFAULT_BATCH, run
    from interplay.traces import TraceSet

    seed, episodes = _whole("seed", seed), _whole("episodes", episodes)
    batch = DEFAULT_BATCH if batch is None else _whole("batch", batch)
    if not 0 <= seed < 2**32:
        raise InterplayError(f"seed: {seed}; a seed is a whole number from 0 to {2**32 - 1}")
    admit([game.id])  # a game that a person gave may be made again to measure its traces
    meta = {"game": game.id, "episodes_per_line_up": episodes, "teams": len(teams), "seed": seed}
    with bar("playing", len(teams) * episodes, show=progress) as advance:
        # Whatever is wrong is said before there is a folder, which could not be used again.
        played = run(game, teams, episodes=episodes, seed=seed, engine=engine, batch=batch, progress=advance)
        traces = TraceSet.create(out, meta) if out is not None else TraceSet.in_memory(meta=meta)
        with traces.writer(episodes=PART) as writer:
            for episode in played:
                writer.add(episode)
    return traces
