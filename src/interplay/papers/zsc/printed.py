"""What the paper on evaluating zero-shot coordination printed, to stand beside what is measured here.

Source: Wang et al., "ZSC-Eval: An Evaluation Toolkit and Benchmark for Multi-agent Zero-shot Coordination", NeurIPS
2024, Tables 2, 3, 9, 10 and 11. Figures stand in printed.toml as printed. Its BR-Prox in
Overcooked is drawn in figures only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interplay.config import toml_beside
from interplay.errors import UnknownName
from interplay.table import Row, Table

SOURCE = "Wang et al., ZSC-Eval, NeurIPS 2024"
LAYOUTS = ("coordination_ring", "counter_circuit")  # those of the study with people
HUMAN, GENERATED, PROXY, SELF_PLAY = "people", "generated partners", "human proxy", "self-play agents"

_PRINTED = toml_beside(__file__)
SPEARMAN = {  # Table 2: with the ranks that people gave, by layout and who evaluated
    (layout, who): r for layout, by_evaluation in _PRINTED["spearman"].items() for who, r in by_evaluation.items()
}
CONTRADICTIONS: list[str] = _PRINTED["contradictions"]  # where the paper disagrees with itself


def human_ranks(layout: str) -> Mapping[str, int]:
    """The ranks that people's games gave to five algorithms."""
    return printed_ranks(layout, HUMAN)


def printed_ranks(layout: str, evaluation: str) -> Mapping[str, int]:
    """Table 2 for one layout and kind of evaluation partner."""
    if layout not in LAYOUTS:
        raise UnknownName("layout with human ranks", layout, list(LAYOUTS))
    return dict(zip(_PRINTED["ranks"]["algorithms"], _PRINTED["ranks"][layout][evaluation], strict=True))


def football(goals: bool = False) -> Table:
    """Return BR-Prox in football as printed in Table 3, or goals as in Table 10."""
    rows = [line.split() for line in _PRINTED["goals" if goals else "football"].strip().splitlines()]
    what = "Goals" if goals else "BR-Prox"
    return Table.of(
        [{"algorithm": row[0]} | _numbers(("value", "low", "high"), row[1:]) for row in rows],
        f"{what} in football as printed: {SOURCE}, Table {10 if goals else 3}",
    )


def balance() -> Table:
    """Return E3T's ablation in football as printed in Table 11."""
    names = ("balance", "goals", "goals_low", "goals_high", "br_prox", "br_prox_low", "br_prox_high")
    rows = [_numbers(names, line.split()) for line in _PRINTED["balance"].strip().splitlines()]
    return Table.of(rows, f"E3T by its balance parameter, football, as printed: {SOURCE}, Table 11")


def _numbers(names: Sequence[str], values: Sequence[str]) -> Row:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def rank_shares() -> Table:
    """A row per algorithm: per cent of layouts and sizes in which it took each rank."""
    rows = [line.split() for line in _PRINTED["shares"].strip().splitlines()]
    names = ("algorithm", *(str(rank) for rank in range(1, 8)))
    return Table.of(
        [dict(zip(names, row, strict=True)) for row in rows], f"Ranks as printed: {SOURCE}, Table 9, per cent"
    )
