"""What the paper prints: Table 3 (means and spreads) and Table 5 (regressions with and without RandomBot)."""

from __future__ import annotations

from interplay.config import toml_beside

METRICS = (
    "self_play", "intra_xp", "inter_xp", "ci", "ic", "ad_entropy", "ard_entropy", "g1", "g2", "g3",
)  # fmt: skip
RANDOM = "RandomBot"
_PRINTED = toml_beside(__file__)
TESTS = 18  # the divisor of the paper's Bonferroni correction


def _number(text: str) -> float | None:
    return None if text == "-" else float(text)


def table3() -> dict[str, dict[str, tuple[float | None, float | None]]]:
    """Return mean and spread by agent and metric."""
    agents = {}
    for line in _PRINTED["table3"].strip().splitlines():
        name, *values = line.split()
        pairs = [(_number(values[i]), _number(values[i + 1])) for i in range(0, len(values), 2)]
        agents[name] = dict(zip(METRICS, pairs, strict=True))
    return agents


def table5() -> dict[tuple[str, bool], dict[str, float | None]]:
    """Return r, slope and p by metric and whether RandomBot is among the agents."""
    rows = {}
    for line in _PRINTED["table5"].strip().splitlines():
        name, *values = line.split()
        for place, with_random in enumerate((True, False)):
            part = [_number(value) for value in values[3 * place : 3 * place + 3]]
            rows[name, with_random] = dict(zip(("r", "slope", "p"), part, strict=True))
    return rows
