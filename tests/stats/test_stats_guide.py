"""The guide's examples run as printed."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "statistics.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of this installation")
def test_examples_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec("\n".join(blocks), {})  # one session, as a reader would type it
    assert "resampled: seed, partner, episode" in capsys.readouterr().out
