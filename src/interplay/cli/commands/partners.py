"""`interplay partners select | diversity | build | show | audit | baselines`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from interplay.cli.show import JsonOption, note, show
from interplay.config import options
from interplay.errors import InterplayError


@dataclass(frozen=True)
class Select:
    """Select the partners whose best responses behave most differently: k-DPP draws, then exchange search.

    The file has a row per candidate: `candidate`, `mean_return` with its best response, and a column per feature
    (event counts of the best response in each seat). Columns are divided by their maximum; the determinant of
    X X^T is made as large as possible.

    Examples:
      interplay partners select features.csv.gz --k 10
      interplay partners select features.csv --k 10 --json
    """

    features: Annotated[Path, tyro.conf.Positional]
    """CSV file, packed (.gz) or not."""
    k: int = 10
    """How many to select."""
    least_return: float = 10.0
    """Candidates whose mean return is not above this are dropped first."""
    draws: int = 500
    """Sets drawn from the k-DPP."""
    restarts: int = 24
    """Sets from which the exchange search starts."""
    seed: int = 0
    """The same seed selects the same."""
    json: bool = False
    """Print one JSON object with `selected`, `log_det`, `det` and `rank`."""

    def run(self) -> None:
        """Select the partners and print them."""
        from interplay.partners.features import able, read
        from interplay.partners.select import select

        features = read(self.features)
        candidates = able(features, self.least_return, str(self.features))
        selection = select(candidates, self.k, draws=self.draws, restarts=self.restarts, seed=self.seed)
        dropped = [i for i in features.ids if i not in candidates.ids]
        facts = {
            "selected": list(selection.selected),
            "log_det": selection.log_det,
            "det": selection.det,
            "rank": selection.rank,
        }
        facts |= {"candidates": selection.candidates, "dropped": dropped, "sampled_log_det": selection.sampled_log_det}
        show(selection.table, json=self.json, **facts)
        if not self.json:
            print(
                f"log det {selection.log_det:.4f}, rank {selection.rank}, of {selection.candidates} candidates", end=""
            )
            print(f" ({len(dropped)} dropped)" if dropped else "")


@dataclass(frozen=True)
class Diversity(JsonOption):
    """BR-Div by size: the largest log determinant that sets of each size reach, and P-Div of the same sets.

    Examples:
      interplay partners diversity br_features.csv.gz --sizes 2 5 10
      interplay partners diversity br_features.csv --partners p_features.csv --json
    """

    features: Annotated[Path, tyro.conf.Positional]
    """CSV file with the features of the best responses."""
    partners: Path | None = None
    """CSV file with the partners' own features, for P-Div."""
    sizes: tuple[int, ...] = (1, 2, 5, 10, 15)
    """Sizes of sets; those beyond the rank of the features are left out."""
    least_return: float = 10.0
    """Candidates whose mean return is not above this are dropped first."""
    seed: int = 0
    """The same seed gives the same."""

    def run(self) -> None:
        """Print the diversity of sets of each size."""
        from interplay.partners.features import able, read
        from interplay.partners.kdpp import rank
        from interplay.partners.select import by_size

        candidates = able(read(self.features), self.least_return, str(self.features))
        most = rank(candidates.normalised())
        left_out = [k for k in self.sizes if k > most]
        if left_out:
            note(f"left out: {', '.join(map(str, left_out))}, since the features have rank {most}")
        own = None if self.partners is None else read(self.partners)
        table = by_size(candidates, [k for k in self.sizes if k <= most], own, seed=self.seed)
        show(table, json=self.json, rank=most)


def _build_panel(task: tuple[dict[str, Any], str, bool]) -> None:
    """Make one panel, here or on a machine of a cluster."""
    from interplay.partners.build import build
    from interplay.partners.config import Build
    from interplay.training.loader import build as read

    config, folder, quiet = task
    build(read(Build, config), folder, quiet=quiet)


@dataclass(frozen=True)
class BuildCommand(JsonOption):
    """Make a panel of evaluation partners for a game: train, select, find best responses, measure.

    The panel goes to OUT/panel; those of several games to OUT/GAME/panel. The same command goes on where it was killed.
    A machine that has the packages of training only can run it as `python -m interplay.partners CONFIG.json --out OUT`.

    Examples:
      interplay partners build overcooked/coordination_ring --out panels/ring
      interplay partners build overcooked/coordination_ring overcooked/cramped_room --out /shared/panels --engine ray
      interplay partners build overcooked/coordination_ring --out panels/try --candidates 8 --k 3 --steps 1e6
      interplay partners build overcooked/cramped_room --out panels/humans --partners runs/bc --kind "human proxy"
      interplay partners build --config ring.json --out panels/ring --set training.envs=128
    """

    out: Path
    """Folder for all stages; the same command goes on with what it holds."""
    games: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """The game, or several: names of `interplay list games`; or as --config says."""
    config: Path | None = None
    """JSON file with the fields of interplay.partners.config.Build."""
    engine: str = "local"
    """Where panels are made: local, or ray, each on a free CPU of a cluster whose machines all see OUT."""
    options: tuple[str, ...] = ()
    """Options of the game as name=value."""
    candidates: int | None = None
    """Pairs to train (64)."""
    k: int | None = None
    """Partners to select (10); each is in the panel skilled and half-skilled."""
    steps: float | None = None
    """Environment steps of each pair (1e7)."""
    response_steps: float | None = None
    """Environment steps of each fresh best response (1e7)."""
    seed: int | None = None
    """The seed of everything (0)."""
    name: str | None = None
    """Name of the panel (generated)."""
    known: tuple[str, ...] = ()
    """Agents that no best response may be below, beside scripted ones: AGENT, NAME=AGENT, folders of training runs."""
    partners: tuple[str, ...] = ()
    """Partners that exist already (checkpoints, agents, a panel): no candidates then, only best responses."""
    kind: str | None = None
    """What the partners are: generated, human proxy, self-play, scripted."""
    set: tuple[str, ...] = ()
    """Other settings as place=value, such as training.envs=128."""

    def run(self) -> None:
        """Build the panels and print their partners."""
        from interplay.config import as_json
        from interplay.partners.panel_file import read_panel
        from interplay.partners.tables import members_table
        from interplay.rollout.engine import engine_by_name
        from interplay.table import Table

        several = len(self.games) > 1
        folders: dict[str | None, Path] = {None: self.out} if not self.games else {self.games[0]: self.out}
        if several:
            folders = {game: self.out / game.replace("/", "_") for game in self.games}
        if len(folders) < len(self.games):
            raise InterplayError("a game stands twice")
        quiet = self.engine != "local"
        tasks = [(as_json(self._config(game)), str(folder.absolute()), quiet) for game, folder in folders.items()]
        list(engine_by_name(self.engine).map(_build_panel, tasks))
        panels = {folder / "panel": read_panel(folder / "panel") for folder in folders.values()}
        if several:
            rows = [{"panel": str(at), **row} for at, panel in panels.items() for row in members_table(panel)]
            show(Table.of(rows, "Partners of the panels"), json=self.json)
        else:
            ((at, panel),) = panels.items()
            show(members_table(panel), json=self.json, panel=str(at), sha256=panel.file_hash)
        for at in panels:
            note(f"panel: {at}")

    def _config(self, game: str | None) -> Any:
        from interplay.partners.config import Build
        from interplay.training.loader import as_json, build, load, with_settings

        if self.config is None and game is None:
            raise InterplayError("name a game, as in `interplay partners build overcooked/cramped_room --out DIR`")
        values: dict[str, Any] = {"game": {"name": game}} if self.config is None else as_json(load(self.config, Build))
        if game is not None:
            values["game"]["name"] = game
        if self.options:
            values["game"]["options"] = options(self.options)
        for field in ("candidates", "k", "steps", "response_steps", "seed", "name", "kind"):
            value = getattr(self, field)
            values |= {} if value is None else {field: value}
        for field in ("partners", "known"):
            values |= {field: list(getattr(self, field))} if getattr(self, field) else {}
        full = as_json(build(Build, values))
        return build(Build, with_settings(full, list(self.set)))


@dataclass(frozen=True)
class Show(JsonOption):
    """A panel's partners, their best responses and what these are worth; and a page about how they behave.

    Examples:
      interplay partners show panels/ring/panel
      interplay partners show overcooked/coordination_ring --json
    """

    panel: Annotated[str, tyro.conf.Positional]
    """Folder of a panel, or a game with a shipped one (GAME or GAME:PANEL)."""
    out: Path | None = None
    """The page; by default in a new folder under out/."""

    def run(self) -> None:
        """Print the panel's partners and write its page."""
        from interplay import api

        table, page = api.panel_page(self.panel, self.out)
        show(table, json=self.json, page=str(page))
        note(f"page: {page}")


@dataclass(frozen=True)
class PanelAudit(JsonOption):
    """Try every known agent with every partner of a panel: is any of them above a best response, beyond noise?

    Known are the agents that come with the package for the panel's game, its scripted ones, the panel's own partners
    and best responses, and those that are named. Prints the cells in which one is above; exits with 1 if there are any.

    Examples:
      interplay partners audit overcooked/coordination_ring
      interplay partners audit panels/ring/panel --agents mine=runs/mine --episodes 400
    """

    panel: Annotated[str, tyro.conf.Positional]
    """Folder of a panel, or a game with a shipped one (GAME or GAME:PANEL)."""
    agents: tuple[str, ...] = ()
    """Further agents: AGENT or NAME=AGENT; the folder of a training run gives all of its policies."""
    trial: int = 20
    """Episodes of every agent with every partner in every seat."""
    episodes: int = 200
    """Fresh episodes of those that did better in the trial, by which they are judged."""
    seed: int = 0
    """The same seed gives the same."""

    def run(self) -> int:
        """Audit the panel, print the cells that are exceeded, and return the exit code."""
        from interplay.games.registry import make_recorded
        from interplay.partners.audit import audit
        from interplay.partners.known import named_agents, scripted_agents, shipped_agents
        from interplay.partners.tables import find

        panel = find(self.panel)
        game = make_recorded(panel.game["id"], panel.game["options"])
        more = [a for name in self.agents for a in named_agents(name)]
        known = {a.name: a for a in [*scripted_agents(game), *shipped_agents(game), *more]}
        note(f"{len(known)} known agents with {len(panel.members)} partners")
        table = audit(panel, game, list(known.values()), trial=self.trial, episodes=self.episodes, seed=self.seed)
        cells = sum(len(m.responses) for m in panel.members)
        show(table, json=self.json, agents=sorted(known), cells=cells, above=len(table), panel=panel.file_hash)
        if not self.json:
            print(f"{len(table)} of {cells} best responses are exceeded beyond noise")
        return 1 if len(table) else 0


@dataclass(frozen=True)
class Baselines(JsonOption):
    """Measure known agents with a panel, and keep the table beside it: grades then say where an agent stands.

    Examples:
      interplay partners baselines panels/ring/panel --agents sp=runs/sp fcp=runs/fcp greedy=overcooked/greedy
    """

    panel: Annotated[Path, tyro.conf.Positional]
    """Folder of a panel."""
    agents: tuple[str, ...]
    """NAME=AGENT; the folder of a training run gives all of its policies, as seeds of one algorithm."""
    episodes: int = 20
    """Episodes for each partner and seat."""
    seed: int = 0
    """The same seed gives the same."""

    def run(self) -> None:
        """Measure the agents with the panel and print the table."""
        from interplay.games.registry import make_recorded
        from interplay.partners.baselines import add_baselines
        from interplay.partners.known import named_agents
        from interplay.partners.panel_file import read_panel

        made_for = read_panel(self.panel).game
        egos: dict[str, list] = {}
        for one in self.agents:
            name, equals, _ = one.partition("=")
            if not equals:
                raise InterplayError(f"--agents {one!r}: write NAME=AGENT, as in sp=runs/sp")
            egos.setdefault(name, []).extend(named_agents(one))
        game = make_recorded(made_for["id"], made_for["options"])
        table = add_baselines(self.panel, game, egos, episodes=self.episodes, seed=self.seed)
        show(table, json=self.json)
