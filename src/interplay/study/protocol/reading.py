"""Reads a protocol from its file; whatever is wrong is told with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from interplay.errors import InterplayError
from interplay.safe_files import parse_yaml
from interplay.server.examples import LARGEST, STUDIES
from interplay.study.protocol.model import Protocol


def load(path: str | Path) -> Protocol:
    """The protocol that a file describes; one of the studies that come with the package by its bare name, where no file
    is called so."""
    file = STUDIES.meant(path)
    return parse(STUDIES.read(file), str(file))


def parse(text: str, where: str = "the study") -> Protocol:
    if len(text) > LARGEST:
        raise InterplayError(f"{where} has more than {LARGEST} characters")
    data, root = parse_yaml(text, where)
    if not isinstance(data, dict):
        raise InterplayError(f"{where} is no study: it holds no `name:`, `title:`, `flow:`")
    try:
        return Protocol.model_validate(data)
    except ValidationError as error:
        lines = [_told(one, root, where) for one in error.errors()[:5]]
        raise InterplayError("\n".join(lines)) from None


def _told(error: Any, root: Any, where: str) -> str:
    line, path = _find(root, error["loc"])
    place = getattr(error.get("ctx", {}).get("error"), "place", None)
    if place is not None:
        line = _line_of(root, place) or line
    message = error["msg"].removeprefix("Value error, ")
    return f"{where}, line {line}: {path + ': ' if path else ''}{message}"


def _find(root: Any, loc: tuple[int | str, ...]) -> tuple[int, str]:
    """The line of the deepest part of the file that an error speaks of, and its path. Parts of `loc` that stand for
    a choice of model are passed over: the file has nothing by that name."""
    import yaml

    node, line, path = root, root.start_mark.line + 1, []
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            held = {key.value: (key, value) for key, value in node.value}
            if part in held:
                key, node = held[part]
                line = key.start_mark.line + 1
                path.append(str(part))
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
            path.append(str(part))
    return line, ".".join(path)


def _line_of(node: Any, place: str) -> int | None:
    """The last line on which a part has this id, or that has this key."""
    import yaml

    found = None
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == place or (key.value == "id" and value.value == place):
                found = key.start_mark.line + 1
            found = _line_of(value, place) or found
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            found = _line_of(value, place) or found
    return found
