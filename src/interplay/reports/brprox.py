"""BR-Prox as a table that fits a screen, and as a page with intervals, offending pairs and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.metrics.brprox.rows import read_rows
from interplay.reports.document import Columns, Figure, Group, Report, Section, TableSection, Text
from interplay.reports.figures import FigureEstimate, interval_plot
from interplay.reports.rankings import ranking_sections
from interplay.stats.brprox.ranks import agreement, name
from interplay.stats.brprox.summary import BRProx
from interplay.table import Row, Table

SCREEN = (
    "layout", "algorithm", "population", "rank", "iqm", "low", "high", "honest_rank", "honest_iqm", "honest_low",
    "honest_high", "unclipped_iqm", "iqr", "above_share", "n_beyond_noise", "expert_iqm", "moderate_iqm",
    "expert_honest_iqm", "moderate_honest_iqm", "expert_by_response_iqm", "moderate_by_response_iqm", "n", "n_excluded",
    "n_seeds", "n_partners",
)  # fmt: skip
SPLIT_BY = {
    "self_play_return": (
        "Expert partners are those whose own self-play return is above the median, as in the paper; the second pair of "
        "columns goes by what their best responses return. A partner with a preference against serving scores nothing "
        "with itself, however skilled it is: for such partners the second split is the one that tells skill."
    ),
    "best_response_return": (
        "Expert partners are those whose best response returns more than the median: "
        "the table does not hold the partners' own self-play return."
    ),
}
EXPLAINED = (
    "An ego's return with a partner as a share of the return of that partner's best response in the same seats; the "
    "number is the inter-quartile mean over seeds, partners and seatings. **Compatible** counts as ZSC-Eval does: at "
    "most 1, and 1 where the best response gets nothing. **Honest** leaves those cells out. Intervals (95 % unless "
    "said otherwise) draw training seeds and partners again."
)
SAME = "Every best response has a positive return: honest and compatible are the same here"
NO_SPREAD = "The table has no standard errors or episodes, so nobody can tell whether these are noise."


def on_screen(summary: Table) -> Table:
    """The columns for people; `--json` has all. Where no cell is left out the two ways of counting are one."""
    same = not any(summary.column("n_excluded"))
    names = [n for n in SCREEN if not (same and "honest" in n)]
    return Table(tuple(names), [{n: row[n] for n in names} for row in summary], summary.title)


def reference_ranks(source: str, published: Mapping[str, Mapping[str, float]]) -> Mapping[str, float]:
    """Return ranks by algorithm, 1 is best.

    Args:
        source: A layout of `published`, or a CSV file with the columns algorithm and rank.
        published: The ranks that people gave in a published study, by layout.

    Raises:
        InterplayError: There is no such layout or file, or a row of it is wrong.
    """
    if source in published:
        return published[source]
    if not Path(source).exists():
        raise InterplayError(f"no human ranks {source!r}: published for {', '.join(published)}; or give a CSV file")
    ranks: dict[str, float] = {}
    for at, row in read_rows(source):
        if not {"algorithm", "rank"} <= row.keys():
            raise InterplayError(f"{source}: columns needed are algorithm and rank; there are {', '.join(row)}")
        if row["algorithm"] in ranks:
            raise InterplayError(f"{source}, {at}: {row['algorithm']} has a rank already")
        try:
            ranks[row["algorithm"]] = float(row["rank"])
        except ValueError:
            raise InterplayError(f"{source}, {at}: rank is {row['rank']!r}, not a number") from None
    if not ranks:
        raise InterplayError(f"{source}: no ranks in it")
    return ranks


def brprox_report(
    result: BRProx, *, human: Table | None = None, seed: int = 0, provenance: Mapping[str, Any] | None = None
) -> Report:
    """The page of a summary; `human` is the table of `against`."""
    sections: list[Section] = [Text(EXPLAINED), *(Text(note) for note in result.notes)]
    layouts = result.summary.groups("layout")
    for (layout,), part in layouts.items():
        sections.append(_layout(result, part, layout, seed))
    if human is not None:
        sections.append(_human(human))
    return Report("Best-response proximity", sections, "", provenance or {})


def _layout(result: BRProx, part: Table, layout: Any, seed: int) -> Group:
    stem = f"brprox-{layout}" if layout is not None else "brprox"
    cells = result.cells.where(layout=layout)
    table, same = on_screen(part), not any(part.column("n_excluded"))
    kinds = ("",) if same else ("", "honest_")
    intervals = {f"{kind}iqm": (f"{kind}low", f"{kind}high") for kind in kinds}
    parts: list[Section] = [
        _intervals(part, stem, kinds),
        TableSection(
            table, "Algorithms", SAME if same else "", stem, intervals,
            hide=["layout"], digits={name: 3 for name in table.columns if name.endswith(("iqm", "iqr", "share"))},
        ),
        Columns([_split(part, stem, kind) for kind in kinds], "Expert and moderate partners"),
        Text(SPLIT_BY[result.split_by]),
        *_best_response_sections(result, layout, stem),
    ]  # fmt: skip
    if len(part) > 2:
        parts.append(Group(ranking_sections(agreement(cells, seed=seed), stem), "Ranks"))
    return Group(parts, str(layout) if layout is not None else "BR-Prox")


def _intervals(part: Table, stem: str, kinds: Sequence[str]) -> Figure:
    drawn = [
        FigureEstimate(
            name(row), *(row[f"{kind}{n}"] for n in ("iqm", "low", "high")), group="honest" if kind else "compatible"
        )
        for kind in kinds
        for row in part
    ]
    picture = interval_plot(drawn, title="BR-Prox", x_title="inter-quartile mean of the ratio to the best response")
    return Figure(picture, "BR-Prox with intervals", "", f"{stem}-intervals")


def _split(part: Table, stem: str, prefix: str) -> Figure:
    drawn = [
        FigureEstimate(
            name(row), *(row[f"{group}_{prefix}{n}"] for n in ("iqm", "low", "high")), group=f"{group} partners"
        )
        for group in ("expert", "moderate")
        for row in part
    ]
    words = "honest" if prefix else "compatible"
    return Figure(interval_plot(drawn, title=f"Expert and moderate partners, {words}"), words, "", f"{stem}-{words}")


def _best_response_sections(result: BRProx, layout: Any, stem: str) -> list[Section]:
    """Sections on best responses without a return, and on those that egos exceeded."""
    above, excluded = (t.where(layout=layout) for t in (result.above, result.excluded))
    sections_made: list[Section] = []
    if len(excluded):
        sections_made.append(TableSection(excluded, "Best responses without a return", EXCLUDED, f"{stem}-excluded"))
    if len(above):
        note = NO_SPREAD if all(v is None for v in above.column("beyond_noise")) else ""
        worst = Table(above.columns, sorted(above.rows, key=_ratio, reverse=True), above.title)
        sections_made.append(TableSection(worst, "Above the best response", note, f"{stem}-above", {}))
        exceeded = [row for row in result.best_responses.where(layout=layout) if row["n_above"]]
        weak = Table.of(sorted(exceeded, key=lambda r: -r["n_above"]), "Best responses that were exceeded")
        sections_made.append(TableSection(weak, weak.title, "", f"{stem}-exceeded", {}))
    return sections_made


EXCLUDED = "Cells with these count 1 in the compatible column and are left out of the honest one"


def _ratio(row: Row) -> float:
    return row["ratio"]


def _human(table: Table) -> Section:
    source = "for the study with people: Wang et al., ZSC-Eval, NeurIPS 2024, Table 2"
    text = f"Rank correlation with ranks given from outside ({source})."
    limits = {"spearman": ("spearman_low", "spearman_high"), "kendall": ("kendall_low", "kendall_high")}
    return Group([Text(text), TableSection(table, "", "", "given-ranks", limits)], "Beside given ranks")
