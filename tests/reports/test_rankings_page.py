"""The page on rankings, and the figures that the paper printed."""

import pytest

from interplay.errors import UnknownName
from interplay.papers.zsc.printed import (
    GENERATED,
    LAYOUTS,
    PROXY,
    SELF_PLAY,
    SPEARMAN,
    human_ranks,
    printed_ranks,
    rank_shares,
)
from interplay.reports.rankings import bump_chart, ranking_report, wide
from interplay.stats import spearman
from interplay.stats.measure_agreement import rank_agreement
from interplay.table import Table
from tests.glossary import all_columns_explained  # noqa: F401


@pytest.fixture(scope="module")
def found():
    rows = [
        {"agent": f"<{a}>", "measure": m, "seed": s, "value": (a * sign + 0.01 * s) if (a, m) != (2, "b") else None}
        for m, sign in (("a", 1.0), ("b", -1.0), ("c", 1.0)) for a in range(4) for s in range(3)
    ]  # fmt: skip
    return rank_agreement(Table.of(rows), seed=0, replicates=200)


def test_a_bump_chart_has_a_dot_for_each_value_and_escapes_names(found):
    drawing = bump_chart(found)
    assert drawing.count("<circle") == 11  # 4 agents, 3 measures, one value missing
    assert "<0>" not in drawing
    assert "&lt;0&gt;" in drawing
    assert drawing.count('stroke-width="2.5"') == 6  # no line to or from a missing value


def test_the_page_is_complete_and_stable(found):
    page = ranking_report(found, title="Alike?", intro="Why.").html()
    assert page == ranking_report(found, title="Alike?", intro="Why.").html()
    for words in ("Spearman between measures", "Kendall between measures", "Pairs of measures", "Ranks of the agents"):
        assert words in page


def test_ranks_side_by_side(found):
    rows = wide(found.ranks).rows
    assert [row["agent"] for row in rows] == ["<3>", "<2>", "<1>", "<0>"]
    assert rows[0]["by a"] == "1 [1, 1]"
    assert rows[1]["by b"] is None
    assert rows[3]["by b"] == "1 [1, 1]"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("evaluation", [GENERATED, PROXY, SELF_PLAY])
def test_printed_ranks_give_the_printed_correlations(layout, evaluation):
    human, other = human_ranks(layout), printed_ranks(layout, evaluation)
    made = spearman([human[a] for a in human], [other[a] for a in human]).r
    assert f"{made:.2f}" == SPEARMAN[layout, evaluation]


def test_printed_shares_are_of_27_and_add_up():
    for row in rank_shares():
        shares = [float(row[str(k)]) for k in range(1, 8)]
        assert sum(shares) == pytest.approx(100, abs=0.05)
        assert all(abs(s * 27 / 100 - round(s * 27 / 100)) < 0.01 for s in shares)
    with pytest.raises(UnknownName, match="coordination_ring"):
        human_ranks("coordination ring")
