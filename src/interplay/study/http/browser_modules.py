"""Browser modules of page types and game views that other packages bring; ours are in the bundle."""

from __future__ import annotations

import functools
import hashlib
from importlib.resources import files

from interplay.errors import InterplayError
from interplay.games.registry import make_recorded
from interplay.study.analysis.analysis_list import pages
from interplay.study.live.browser_views import browser_view
from interplay.study.pages.page_type import page_type
from interplay.study.protocol.flow import Page
from interplay.study.protocol.model import GameSetting, Protocol

LARGEST = 1_000_000  # bytes of a module


def study_scripts(protocol: Protocol) -> dict[str, bytes]:
    """Return the modules that the pages and games of a study need, by the name under which they are served.

    Raises:
        InterplayError: A package does not have the file that it names.
    """
    references = {page_type(page.kind).script for page in pages(protocol)}
    references |= {_board_script(setting) for setting in protocol.games.values()}
    return {script_name(reference): _read(reference) for reference in references if reference is not None}


def page_scripts(protocol: Protocol, page: Page) -> list[str]:
    """Return the names of the modules that one page needs."""
    references = [page_type(page.item.kind).script]
    if page.item.kind == "game":
        references.append(_board_script(protocol.games[page.value(page.item.game)]))
    return [script_name(reference) for reference in references if reference is not None]


def script_name(reference: str) -> str:
    """Return the name under which `package:file.js` is served: it changes with what is in the file."""
    package, _, file = reference.partition(":")
    stem = f"{package}-{file.removesuffix('.js')}".replace("/", "-")
    return f"{stem}-{hashlib.sha256(_read(reference)).hexdigest()[:12]}.js"


def _board_script(setting: GameSetting) -> str | None:
    return browser_view(make_recorded(setting.game, setting.options)).script


@functools.cache
def _read(reference: str) -> bytes:
    package, _, file = reference.partition(":")
    try:
        content = files(package).joinpath(file).read_bytes()
    except (OSError, ModuleNotFoundError, ValueError) as error:
        raise InterplayError(f"the browser module {reference!r} cannot be read: {error}") from error
    if not file.endswith(".js") or len(content) > LARGEST:
        raise InterplayError(f"the browser module {reference!r} is no .js file of at most {LARGEST} bytes")
    return content
