"""Pictures, videos and positions of games that pages and questions show."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from interplay.errors import InterplayError
from interplay.games.registry import make_recorded
from interplay.study.protocol.model import VIDEOS, Media, Protocol
from interplay.study.protocol.texts import say
from interplay.untrusted_files import file_in, regular_file

TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif",
    ".svg": "image/svg+xml", ".mp4": "video/mp4", ".webm": "video/webm", ".vtt": "text/vtt",
}  # fmt: skip
BOARDS = ("hanabi",)  # boards of the front end that can stand still; other games are drawn
_VIEWS: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}


@dataclass
class Position:
    """What `BrowserView.view` reads of a live table, without a game that goes on."""

    state: Any
    turn: np.ndarray
    legal: np.ndarray
    t: int
    done: bool = True  # nobody can move here
    notes: Any = field(default=None)


def views(protocol: Protocol) -> dict[str, dict[str, Any]]:
    """Return what browsers are sent of every picture, video and position, but for texts; made once for each study.

    Raises:
        InterplayError: A position cannot be reached.
    """
    key = (protocol.name, protocol.hash)
    if key not in _VIEWS:
        _VIEWS[key] = {name: _source(protocol, name, media) for name, media in protocol.media.items()}
    return _VIEWS[key]


def view(protocol: Protocol, name: str, language: str) -> dict[str, Any]:
    """Return a picture, video or position as the front end shows it."""
    return {**views(protocol)[name], "alt": say(protocol.media[name].alt, language)}


def path_of(protocol: Protocol, name: str, *, captions: bool = False) -> Path | None:
    """Return the file of a picture or video, or of a video's captions; None if the study has none by this name."""
    media, folder = protocol.media.get(name), protocol._folder
    file = None if media is None else media.captions if captions else media.file
    return regular_file(file_in(folder, file), within=folder) if file is not None and folder is not None else None


def _source(protocol: Protocol, name: str, media: Media) -> dict[str, Any]:
    if media.game is not None:
        try:
            return _position(protocol, media)
        except InterplayError as error:
            raise InterplayError(f"study {protocol.name!r}, media {name!r}: {error}") from error
    address = f"/study/{protocol.name}/media/{name}"
    if media.suffix in VIDEOS:
        return {"kind": "video", "src": address, "captions": f"{address}?captions=true" if media.captions else None}
    return {"kind": "image", "src": address}


def _position(protocol: Protocol, media: Media) -> dict[str, Any]:
    """Play the moves and return what the seat sees then."""
    from interplay.study.live.browser_views import browser_view  # which needs the pages

    setting = protocol.games[media.game or ""]
    game: Any = make_recorded(setting.game, setting.options)
    if media.seat >= game.num_seats:
        raise InterplayError(f"seat {media.seat}: {game.id} has seats 0 to {game.num_seats - 1}")
    browser = browser_view(game)
    watch = browser.watch(game)
    key = jax.random.key(media.seed)
    state = game.init(key)
    table = _table(game, state, 0)
    for t, move in enumerate(media.moves):
        joint = _joint(game, state, move, t)
        after, _ = game.step(state, joint, jax.random.fold_in(key, t))
        if watch is not None:
            watch(table, jax.device_get(state), jax.device_get(after), joint)  # pyright: ignore[reportArgumentType]
        notes, state = table.notes, after
        table = _table(game, state, t + 1)
        table.notes = notes
    if browser.board in BOARDS:
        start = {"type": "start", "game": browser.board, "you": media.seat, "tick_hz": 0, "ticks": 0}
        start["layout"] = browser.layout(game, table.state)
        return {"kind": "board", "start": start, "view": browser.view(game, table, media.seat)}  # pyright: ignore[reportArgumentType]
    return {"kind": "drawing", "svg": game.scene(state, media.seat).svg()}


def _table(game: Any, state: Any, t: int) -> Position:
    return Position(jax.device_get(state), np.asarray(game.to_move(state)), np.asarray(game.legal(state)), t)


def _joint(game: Any, state: Any, move: str, t: int) -> np.ndarray:
    """Return the joint action in which whoever is to move makes a move and the others do nothing."""
    names = list(game.action_names)
    if move not in names:
        raise InterplayError(f"move {t + 1}: {move!r} is no action of {game.id}; there is {', '.join(names)}")
    legal, turn = np.asarray(game.legal(state)), np.asarray(game.to_move(state))
    mover = int(np.flatnonzero(turn)[0]) if turn.any() else -1
    if mover < 0 or not legal[mover, names.index(move)]:
        raise InterplayError(f"move {t + 1}: {move!r} is not legal there")
    joint = np.argmax(legal, axis=1).astype(np.int32)
    joint[mover] = names.index(move)
    return joint
