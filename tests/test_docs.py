"""The Python in the guides runs, in order, page by page, and the commands of all pages are ones that there are."""

import re
import shlex
from pathlib import Path

import pytest

from interplay.cli.main import run
from interplay.errors import InterplayError

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLES = Path(__file__).parent.parent / "examples"
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


def commands():
    """Every command line of ours that a page shows, with the page."""
    for page in [*sorted(DOCS.rglob("*.md")), DOCS.parent / "README.md", *sorted(EXAMPLES.rglob("*.md"))]:
        text = page.read_text().replace("\\\n", " ")
        for block in re.findall(r"^```(?:sh|bash|console)?\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
            for line in block.splitlines():
                line = line.removeprefix("$ ")
                if line.startswith("interplay ") and not any(mark in line for mark in ("COMMAND", "...", "$")):
                    words = shlex.split(line, comments=True)[1:]
                    end = next((at for at, word in enumerate(words) if word in ("|", ">", "&", "&&", ";")), None)
                    yield page.name, words[:end]


def test_the_commands_of_all_pages_are_understood(monkeypatch, capsys):
    """Each names a command and options that it has; none is run."""
    import tyro

    understood, parse = set(), tyro.cli
    refused = []

    def only_parse(*arguments, **settings):
        understood.add(type(parse(*arguments, **settings)).__name__)
        raise InterplayError("understood")

    monkeypatch.setattr(tyro, "cli", only_parse)
    for page, words in commands():
        try:
            run(words)
        except SystemExit as end:
            capsys.readouterr()
            if end.code:
                refused.append(f"{page}: {shlex.join(words)}")
            continue
        said = capsys.readouterr().err
        if "understood" not in said:
            refused.append(f"{page}: {shlex.join(words)}: {said}")
    assert not refused, "\n".join(refused)
    assert len(understood) > 30  # kinds of commands: the pages were read
