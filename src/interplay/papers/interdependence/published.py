"""What the paper on interdependence printed, to stand beside what is measured here.

Source: Biswas, Palod, Bhambri, Kambhampati, "Who is Helping Whom? Analyzing Inter-dependencies to Evaluate Cooperation
in Human-AI Teaming", AAAI 2026: Tables 1a, 1b, 2, 3, 4a, 4b, 4c, and the correlations in the text. Figures stand as
printed, so they are text. The paper prints no spread.
"""

from __future__ import annotations

from typing import NamedTuple

from interplay.table import Row, Table

SOURCE = "Biswas et al., Who is Helping Whom?, AAAI 2026"
SETTINGS = {"counter_circuit": "Non-RC", "forced_coordination": "RC"}  # required cooperation, or not
METRICS = ("task_reward", "int_cons", "int_non_cons", "int_cons_coop", "pct_trig_tot_sub", "pct_trig_not_accepted")
PEARSON = {"RC": "0.81", "Non-RC": "0.19"}  # task reward and constructive interdependence, teams with people


class _Printed(NamedTuple):
    metrics: tuple[str, ...]
    settings: tuple[str, ...]
    rows: str  # agent, then for each metric a figure for each setting


_COOPERATION = METRICS[:3]
_RESPONSE = METRICS[4:]
_BOTH = ("Non-RC", "RC")

PRINTED = {
    "1a": _Printed(
        METRICS[:4],
        ("Non-RC",),
        """
        COLE  36     0.60  1.20  4.425
        MEP   43.33  0.83  1.67  6.59
        HSP   0      0     0.50  0
        FCP   0      0     0.17  0
        """,
    ),
    "1b": _Printed(
        _RESPONSE,
        ("Non-RC",),
        """
        COLE  58.5   88.88
        MEP   41.28  75.55
        HSP   58.57  100.0
        FCP   41.79  100.0
        """,
    ),
    "2": _Printed(
        _COOPERATION,
        _BOTH,
        """
        COLE  120     200  10.23  30.43  6.58   6.83
        MEP   100.00  140  1.05   29.5   10.19  7.53
        HSP   120     100  1.82   22.87  12.32  10.667
        FCP   60      80   0      16.0   0      16.0
        """,
    ),
    "3": _Printed(
        _COOPERATION,
        _BOTH,
        """
        COLE  100     200  7.52   35.00  10.98  3.32
        MEP   140.00  180  1.05   29.5   12.21  9.53
        HSP   160     180  4.5    30.00  11.32  7.667
        FCP   100     120  6.021  24     15.02  4.0
        """,
    ),
    "4a": _Printed(
        _COOPERATION,
        _BOTH,
        """
        COLE  76.21  56.87  1.89  11.37  6.29   2.87
        MEP   50     44.1   0.92  8.69   1.28   2.76
        HSP   41.11  60.55  1.38  12.05  2.13   3.08
        FCP   22.55  35.34  0.97  7.06   0.872  3.44
        """,
    ),
    "4b": _Printed(
        _COOPERATION,
        _BOTH,
        """
        COLE  120    100  3.79   20.00  3.0    0.33
        MEP   80.00  120  1.285  24.0   7.47   0
        HSP   80     120  3.5    25.00  1.25   1.667
        FCP   60     100  3.667  20     1.334  3.0
        """,
    ),
    "4c": _Printed(
        _RESPONSE,
        _BOTH,
        """
        COLE  60.28  45.28  70.05  38.34
        MEP   66.82  43.57  82.39  39.82
        HSP   52.22  42.92  80.85  40.58
        FCP   58.30  43.62  98.41  36.84
        """,
    ),
}
PARTS = {1: ("1a", "1b"), 2: ("2",), 3: ("3",), 4: ("4a", "4c")}  # the tables that make up a section; 4b is apart

# Where the paper disagrees with itself, by table. Nothing here was corrected.
CONTRADICTIONS: dict[int, tuple[str, ...]] = {
    1: (
        "MEP's int_cons is 0.83 in Table 1a and 1.83 in the text.",
        "Table 1a is said to be the mean of 50 runs, but means of 50 counts come in steps of 0.02, so 0.83, 1.67 and "
        "0.17 cannot occur, nor 43.33 at 20 points a soup; all of them fit 6 runs, and COLE's fit 5.",
    ),
    2: (
        "In the text int_non_cons exceeds int_cons for every agent in Non-RC; in Table 2 it does not for COLE "
        "(6.58 against 10.23) and FCP (0 against 0).",
        "A soup in the RC kitchen stands on 4 hand-overs, so 140 points are 28 and 100 points 20; Table 2 has 29.5 and "
        "22.87.",
    ),
    3: (
        "The text gives the highest Non-RC reward to MEP with 140; Table 3 has HSP with 160.",
        "MEP has the same int_cons in Tables 2 and 3 (1.05 and 29.5) under different rewards: one pair may be a copy.",
    ),
    4: (
        "HSP's Non-RC int_cons is 1.38 in Table 4a and 1.39 in the text.",
        "The text gives the highest RC reward of a best team, 120, to HSP; Table 4b has MEP at 120 as well.",
        "Rounds are said to be for one soup in 60 seconds, or for three soups; rewards reach ten soups at 20 points.",
    ),
}


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
    rows = sorted(by_agent.values(), key=lambda row: _BOTH.index(row["setting"]))
    return Table.of(rows, f"As printed: {SOURCE}", columns=["layout", "setting", "agent", *metrics])
