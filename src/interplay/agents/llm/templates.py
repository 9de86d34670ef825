"""Prompt templates: files by game and version, filled in from plain values."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jinja2

from interplay.errors import UnknownName

HERE = Path(__file__).parent


@functools.cache
def _environment(game: str) -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(HERE / game / "templates")
    return jinja2.Environment(
        loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )


def versions(game: str) -> list[str]:
    """List the versions of a game's templates."""
    return sorted(folder.name for folder in (HERE / game / "templates").iterdir() if folder.is_dir())


def fill(game: str, version: str, template: str, /, **values: Any) -> str:
    """Return a template's text with values filled in.

    Args:
        game: The folder of the game's prompts, such as kitchen.
        version: The folder of the version.
        template: The template, such as system.
        **values: What the template names; one that is missing is an error.

    Raises:
        UnknownName: There is no such version.
    """
    if version not in versions(game):
        raise UnknownName(f"version of the {game} prompts", version, versions(game))
    return _environment(game).get_template(f"{version}/{template}.txt.j2").render(**values).strip()
