"""Every table and figure that `interplay paper PAPER RESULT` makes, with what it needs: `index.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple


class PaperResult(NamedTuple):
    """A table or figure of a paper.

    Attributes:
        command: `module:Class` of the command that makes it, in `interplay.cli.commands`.
        what: What it shows, in a few words.
        needs: What it needs beyond an installation with `[all]`: trained agents, data, time.
    """

    command: str
    what: str
    needs: str


class Paper(NamedTuple):
    """A paper and its results by name.

    Attributes:
        title: The paper's title.
        results: Its tables and figures by the word that `interplay paper` takes.
    """

    title: str
    results: dict[str, PaperResult]


def _read() -> dict[str, Paper]:
    papers = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        name: Paper(paper["title"], {word: PaperResult(**result) for word, result in paper["results"].items()})
        for name, paper in papers.items()
    }


PAPERS = _read()


def paper_commands() -> dict[str, tuple[str, str]]:
    """The results as rows of the command line's table: `paper PAPER RESULT` to command and what it shows."""
    return {
        f"paper {name} {word}": (result.command, result.what)
        for name, paper in PAPERS.items()
        for word, result in paper.results.items()
    }
