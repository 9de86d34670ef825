"""What every ego of a layout returns with the partners of its panels, and with every other ego.

    python benchmarks/zsc/returns.py runs/zsc/coordination_ring --panel panel --known sp=runs/.../sp#20-24 runs/.../egos

Writes returns_PANEL.csv (what `interplay brprox` reads) and, if asked, crossplay.csv into the layout's folder. Scripted
agents are rows, too. Needs nothing but training's packages.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from interplay.agents.api import Agent
from interplay.games.registry import make
from interplay.partners.known import named_agents, scripted_agents
from interplay.partners.panel_file import PANEL, network_of, read_panel
from interplay.partners.returns import cross_play, panel_returns, write_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--known", nargs="+", required=True, metavar="[NAME=]AGENT")
    parser.add_argument("--panel", nargs="*", default=[], help="folders of panels; returns go to returns_NAME.csv")
    parser.add_argument("--crossplay", action="store_true", help="also every ego with every other")
    parser.add_argument("--name", help="of the table returns_NAME.csv, without scripted chefs; default: the panel's")
    parser.add_argument("--game", help="default: by the folder's name")
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--horizon", type=int, default=400, help="steps of an episode")
    given = parser.parse_args()
    options = {} if given.horizon == 400 else {"horizon": given.horizon}
    game = make(given.game or f"overcooked/{given.folder.name}", **options)
    egos = by_method([a for name in given.known for a in named_agents(name)])
    scripted = {a.name.rpartition("/")[2]: [a] for a in scripted_agents(game)}
    for folder in map(Path, given.panel):
        if (folder / PANEL).is_file():
            panel = read_panel(folder, game)
            everyone = egos if given.name else egos | scripted
            rows = panel_returns(game, panel, everyone, episodes=given.episodes)
            write_rows(given.folder / f"returns_{given.name or panel.name}.csv", rows)
    if not given.crossplay:
        return
    shape = _shape(next(iter(egos.values()))[0])
    alike = {m: agents for m, agents in egos.items() if all(_shape(a) == shape for a in agents)}
    write_rows(given.folder / "crossplay.csv", cross_play(game, alike, episodes=max(1, given.episodes // 2)))


def by_method(agents: list[Agent]) -> dict[str, list[Agent]]:
    """Agents called METHOD-SEED by method, in order."""
    found: dict[str, list[Agent]] = {}
    for one in agents:
        found.setdefault(one.name.rpartition("-")[0] or one.name, []).append(one)
    return found


def _shape(one: Agent) -> object:
    network = network_of(one.policy)
    return None if network is None else network[0].core.shape


if __name__ == "__main__":
    main()
