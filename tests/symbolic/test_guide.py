"""The guide's example runs as it is printed, and is as short as promised."""

import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "add_a_domain.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S)


def test_the_guide_runs(capsys):
    names: dict = {}
    for number, block in enumerate(blocks()):
        exec(compile(block, f"{GUIDE.name}, block {number + 1}", "exec"), names)
    assert names["found"].number("constructive") == 1
    assert "constructive" in capsys.readouterr().out


def test_a_domain_takes_less_than_60_lines():
    first = [line for line in blocks()[0].splitlines() if line.strip()]
    assert len(first) < 60


def test_the_plan_of_the_guide_is_valid():
    import pytest

    pytest.importorskip("unified_planning", reason="needs the extra `planning`")
    from tests.symbolic.test_pddl import validates

    names: dict = {}
    for block in blocks():
        exec(block, names)
    from interplay.symbolic.pddl import Pddl

    assert validates(Pddl(names["domain"], names["problem"], names["plan"]))
