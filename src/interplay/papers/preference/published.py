"""What the paper prints: Table 3 (means and spreads) and Table 5 (regressions with and without RandomBot)."""

from __future__ import annotations

METRICS = (
    "self_play", "intra_xp", "inter_xp", "ci", "ic", "ad_entropy", "ard_entropy", "g1", "g2", "g3",
)  # fmt: skip
RANDOM = "RandomBot"
# A row for each agent of Table 3, mean and spread of each of METRICS; the paper does not say what the spread is of.
_TABLE3 = """
AP+Aux     23.128 1.743 22.000 2.385 16.125 6.805 .107 .005 .442 .063 2.653 .099 4.579 .262 .002 .002 .012 .006 .097 .031
HolmesBot  20.684 2.667 - - 6.197 4.056 .118 .007 .450 .029 2.560 .061 4.271 .169 .005 .004 .002 .003 .067 .027
OBL1       21.268 2.001 21.168 2.297 12.535 6.984 .103 .005 .163 .023 2.760 .104 4.763 .376 .001 .001 .008 .007 .131 .070
OBL2       23.428 1.606 23.301 1.655 14.822 7.759 .104 .006 .271 .027 2.821 .050 4.736 .369 .001 .001 .010 .007 .119 .057
OBL4       24.168 1.215 23.927 1.550 13.539 8.216 .103 .004 .329 .033 2.800 .041 4.727 .356 .000 .001 .010 .008 .106 .051
OP+Aux     23.896 1.687 23.002 2.532 16.402 6.949 .105 .007 .357 .040 2.737 .073 4.688 .300 .001 .001 .012 .006 .109 .047
RandomBot  1.180 1.231 - - 1.641 1.561 .101 .005 .023 .011 2.912 .011 4.109 .315 .041 .010 .001 .001 .045 .009
SmartBot   23.288 1.795 - - 10.393 6.409 .105 .006 .370 .047 2.727 .060 4.636 .281 .004 .002 .008 .006 .092 .034
"""  # noqa: E501
# r, slope and p with RandomBot, then without. Where the prose of the paper gives another value of the same quantity
# the table's is kept; digits that its print has lost are left out.
_TABLE5 = """
human_ai_score  .350  .365  .000    .203  .204  .000
self_play       .447  .461  .000    .168  1.049  .001
intra_xp        -  -  -             .234  1.648  .000
inter_xp        .370  .600  .000    .047  .109  .344
ad_entropy      -.086  -6.805  .060   .301  -  .000
ard_entropy     .466  -  .000       .233  11.505  .000
ci              -.028  -47.543  .542  -.218  -340.670  .000
ic              .515  -  -          .332  -  -
g1              -.447  -253  .000   -.200  -902.899  .000
g2              .332  666.770  .000   .058  137.098  .242
g3              .421  121.216  .000   .166  63.551  .001
"""
TESTS = 18  # the divisor of the paper's Bonferroni correction


def _number(text: str) -> float | None:
    return None if text == "-" else float(text)


def table3() -> dict[str, dict[str, tuple[float | None, float | None]]]:
    """Return mean and spread by agent and metric."""
    agents = {}
    for line in _TABLE3.strip().splitlines():
        name, *values = line.split()
        pairs = [(_number(values[i]), _number(values[i + 1])) for i in range(0, len(values), 2)]
        agents[name] = dict(zip(METRICS, pairs, strict=True))
    return agents


def table5() -> dict[tuple[str, bool], dict[str, float | None]]:
    """Return r, slope and p by metric and whether RandomBot is among the agents."""
    rows = {}
    for line in _TABLE5.strip().splitlines():
        name, *values = line.split()
        for place, with_random in enumerate((True, False)):
            part = [_number(value) for value in values[3 * place : 3 * place + 3]]
            rows[name, with_random] = dict(zip(("r", "slope", "p"), part, strict=True))
    return rows
