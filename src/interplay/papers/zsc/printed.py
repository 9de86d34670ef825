"""What the paper on evaluating zero-shot coordination printed, to stand beside what is measured here.

Source: Wang et al., "ZSC-Eval: An Evaluation Toolkit and Benchmark for Multi-agent Zero-shot Coordination", NeurIPS
2024, Tables 2, 3, 9, 10 and 11. Figures stand as printed. Its BR-Prox in Overcooked is drawn in figures only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interplay.errors import UnknownName
from interplay.table import Row, Table

SOURCE = "Wang et al., ZSC-Eval, NeurIPS 2024"
LAYOUTS = ("coordination_ring", "counter_circuit")  # those of the study with people
HUMAN, GENERATED, PROXY, SELF_PLAY = "people", "generated partners", "human proxy", "self-play agents"

_ALGORITHMS = ("hsp", "mep", "fcp", "cole", "sp")
_RANKS = {  # Table 2: layout -> who evaluated -> ranks in the order of _ALGORITHMS
    "coordination_ring": {
        HUMAN: (3, 1, 2, 4, 5), GENERATED: (2, 1, 3, 4, 5), PROXY: (2, 1, 3, 4, 5), SELF_PLAY: (4, 1, 3, 2, 5),
    },
    "counter_circuit": {
        HUMAN: (1, 3, 2, 4, 5), GENERATED: (1, 3, 2, 4, 5), PROXY: (3, 1, 2, 4, 5), SELF_PLAY: (4, 3, 2, 1, 5),
    },
}  # fmt: skip
SPEARMAN = {  # Table 2: with the ranks that people gave
    ("coordination_ring", GENERATED): "0.90", ("coordination_ring", PROXY): "0.90",
    ("coordination_ring", SELF_PLAY): "0.70", ("counter_circuit", GENERATED): "1.00",
    ("counter_circuit", PROXY): "0.60", ("counter_circuit", SELF_PLAY): "0.10",
}  # fmt: skip

_FOOTBALL = """
    sp       0.20  0.14  0.24
    e3t      0.66  0.59  0.74
    fcp      0.78  0.72  0.85
    mep      0.78  0.71  0.85
    trajedi  0.81  0.75  0.89
    cole     0.75  0.69  0.84
    hsp      0.80  0.72  0.88
"""  # Table 3: BR-Prox and its 95 % interval

_GOALS = """
    sp       0.09  0.07  0.12
    e3t      0.31  0.29  0.37
    fcp      0.38  0.35  0.43
    mep      0.38  0.36  0.42
    trajedi  0.40  0.37  0.45
    cole     0.36  0.33  0.42
    hsp      0.40  0.36  0.44
"""  # Table 10: goals and their 95 % interval

_BALANCE = """
    0.05  0.28  0.26  0.32  0.60  0.53  0.66
    0.1   0.30  0.26  0.34  0.60  0.53  0.67
    0.25  0.29  0.25  0.32  0.58  0.51  0.65
    0.5   0.32  0.29  0.37  0.66  0.59  0.73
"""  # Table 11: E3T in football by its balance parameter: goals and BR-Prox with their intervals

_SHARES = """
    sp       0.0    0.0    3.7    7.41   3.7    3.7    81.48
    e3t      3.7    14.81  0.0    11.11  37.04  33.33  0.0
    fcp      3.7    7.41   44.44  11.11  14.81  14.81  3.7
    mep      29.63  37.04  11.11  11.11  3.7    7.41   0.0
    trajedi  7.41   11.11  18.52  37.04  11.11  3.7    11.11
    cole     7.41   7.41   11.11  7.41   25.93  37.04  3.7
    hsp      48.15  22.22  11.11  14.81  3.7    0.0    0.0
"""  # Table 9: per cent of nine layouts by three sizes in which an algorithm took a rank

# Where the paper disagrees with itself about these figures. Nothing here was corrected.
CONTRADICTIONS = (
    "The ranks by generated partners are called the closest to people's; in coordination ring the human proxy ties.",
    "Seven agents are said to have met people; Table 2 has five. The size of their populations is not said.",
    "E3T's interval in football ends at 0.74 in Table 3 and at 0.73 in Table 11.",
)


def human_ranks(layout: str) -> Mapping[str, int]:
    """The ranks that people's games gave to five algorithms."""
    return printed_ranks(layout, HUMAN)


def printed_ranks(layout: str, evaluation: str) -> Mapping[str, int]:
    """Table 2 for one layout and kind of evaluation partner."""
    if layout not in _RANKS:
        raise UnknownName("layout with human ranks", layout, list(LAYOUTS))
    return dict(zip(_ALGORITHMS, _RANKS[layout][evaluation], strict=True))


def football(goals: bool = False) -> Table:
    """Return BR-Prox in football as printed in Table 3, or goals as in Table 10."""
    rows = [line.split() for line in (_GOALS if goals else _FOOTBALL).strip().splitlines()]
    what = "Goals" if goals else "BR-Prox"
    return Table.of(
        [{"algorithm": row[0]} | _numbers(("value", "low", "high"), row[1:]) for row in rows],
        f"{what} in football as printed: {SOURCE}, Table {10 if goals else 3}",
    )


def balance() -> Table:
    """Return E3T's ablation in football as printed in Table 11."""
    names = ("balance", "goals", "goals_low", "goals_high", "br_prox", "br_prox_low", "br_prox_high")
    rows = [_numbers(names, line.split()) for line in _BALANCE.strip().splitlines()]
    return Table.of(rows, f"E3T by its balance parameter, football, as printed: {SOURCE}, Table 11")


def _numbers(names: Sequence[str], values: Sequence[str]) -> Row:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def rank_shares() -> Table:
    """A row per algorithm: per cent of layouts and sizes in which it took each rank."""
    rows = [line.split() for line in _SHARES.strip().splitlines()]
    names = ("algorithm", *(str(rank) for rank in range(1, 8)))
    return Table.of(
        [dict(zip(names, row, strict=True)) for row in rows], f"Ranks as printed: {SOURCE}, Table 9, per cent"
    )
