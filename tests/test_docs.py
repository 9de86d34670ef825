"""The Python in the guides runs, in order, page by page."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [
    DOCS / "guide" / "getting_started.md",
    DOCS / "guide" / "agents.md",
    DOCS / "guide" / "metrics.md",
    DOCS / "guide" / "interdependence.md",
    DOCS / "guide" / "br_prox.md",
    DOCS / "guide" / "partners.md",
    DOCS / "games" / "overcooked.md",
    DOCS / "games" / "kitchen.md",
    DOCS / "guide" / "llm.md",
    DOCS / "metrics" / "communication.md",
    DOCS / "guide" / "hanabi_learning.md",
    DOCS / "guide" / "study_analysis.md",
    DOCS.parent / "README.md",
]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    assert blocks
    text = "\n".join(blocks).replace("episodes=100", "episodes=2")
    exec(compile(text, str(page), "exec"), {"__name__": "docs"})


def test_every_page_is_in_the_navigation_or_linked():
    """A page that no other page mentions is lost."""
    pages = [p for p in DOCS.rglob("*.md") if p.name != "index.md"]
    everything = "\n".join(p.read_text() for p in DOCS.rglob("*.md")) + (DOCS.parent / "mkdocs.yml").read_text()
    lost = [str(p.relative_to(DOCS)) for p in pages if p.name not in everything]
    assert lost == []
