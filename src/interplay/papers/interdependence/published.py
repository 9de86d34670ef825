"""What the paper on interdependence printed, to stand beside what is measured here.

Source: Biswas, Palod, Bhambri, Kambhampati, "Who is Helping Whom? Analyzing Inter-dependencies to Evaluate Cooperation
in Human-AI Teaming", AAAI 2026: Tables 1a, 1b, 2, 3, 4a, 4b, 4c, and the correlations in the text. Figures stand in
published.toml as printed, so they are text. The paper prints no spread.
"""

from __future__ import annotations

from typing import NamedTuple

from interplay.config import toml_beside
from interplay.table import Row, Table

SOURCE = "Biswas et al., Who is Helping Whom?, AAAI 2026"
SETTINGS = {"counter_circuit": "Non-RC", "forced_coordination": "RC"}  # required cooperation, or not
METRICS = ("task_reward", "int_cons", "int_non_cons", "int_cons_coop", "pct_trig_tot_sub", "pct_trig_not_accepted")
PEARSON = {"RC": "0.81", "Non-RC": "0.19"}  # task reward and constructive interdependence, teams with people


class _Printed(NamedTuple):
    metrics: tuple[str, ...]
    settings: tuple[str, ...]
    rows: str  # agent, then for each metric a figure for each setting


_PRINTED = toml_beside(__file__)
PRINTED = {name: _Printed(**table) for name, table in _PRINTED["tables"].items()}
PARTS = {1: ("1a", "1b"), 2: ("2",), 3: ("3",), 4: ("4a", "4c")}  # the tables that make up a section; 4b is apart

# Where the paper disagrees with itself, by table.
CONTRADICTIONS = {int(number): lines for number, lines in _PRINTED["contradictions"].items()}


def published(*names: str) -> Table:
    """The printed figures of these tables, a row per agent and layout; null where a table has no such column."""
    by_agent: dict[tuple[str, str], Row] = {}
    layouts = {setting: layout for layout, setting in SETTINGS.items()}
    for name in names:
        printed = PRINTED[name]
        cells = [(setting, metric) for metric in printed.metrics for setting in printed.settings]
        for agent, *figures in filter(None, map(str.split, printed.rows.splitlines())):
            for (setting, metric), figure in zip(cells, figures, strict=True):
                key = (setting, agent)
                row = by_agent.setdefault(key, {"layout": layouts[setting], "setting": setting, "agent": agent})
                row[metric] = figure
    metrics = [m for m in METRICS if any(m in row for row in by_agent.values())]
    rows = sorted(by_agent.values(), key=lambda row: ("Non-RC", "RC").index(row["setting"]))
    return Table.of(rows, f"As printed: {SOURCE}", columns=["layout", "setting", "agent", *metrics])
