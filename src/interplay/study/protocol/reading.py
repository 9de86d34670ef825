"""Read a study file; errors name the line."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from interplay.errors import InterplayError
from interplay.server.examples import LARGEST, STUDIES
from interplay.study.protocol.model import Protocol
from interplay.untrusted_files import file_in, parse_yaml, read_bytes, regular_file

LARGEST_MEDIA = 64 << 20  # bytes of a picture or a video


def load(path: str | Path) -> Protocol:
    """Return the protocol of a file, or of a bundled study by its bare name if there is no such file.

    Raises:
        InterplayError: There is no such file or study, or it is not valid.
    """
    file = STUDIES.resolve(path)
    return with_files(parse(STUDIES.read(file), str(file)), file.parent)


def with_files(protocol: Protocol, folder: Path) -> Protocol:
    """Return a protocol that knows where its pictures and videos lie, and their hashes.

    Raises:
        InterplayError: One of them is not there, is too large, or lies outside of the folder.
    """
    named = {}
    for name, media in protocol.media.items():
        if media.captions is not None:
            regular_file(file_in(folder, media.captions), within=folder)
        if media.file is not None:
            data = read_bytes(file_in(folder, media.file), limit=LARGEST_MEDIA, within=folder)
            media = media.model_copy(update={"sha256": hashlib.sha256(data).hexdigest()})
        named[name] = media
    whole = protocol.model_copy(update={"media": named}) if named else protocol
    whole._folder = folder
    return whole


def parse(text: str, where: str = "the study") -> Protocol:
    """Return the protocol of a text; `where` names the text in errors.

    Raises:
        InterplayError: The text is not a valid study file; names up to five errors with their lines.
    """
    if len(text) > LARGEST:
        raise InterplayError(f"{where} has more than {LARGEST} characters")
    data, root = parse_yaml(text, where)
    if not isinstance(data, dict):
        raise InterplayError(f"{where} is no study: it holds no `name:`, `title:`, `flow:`")
    try:
        return Protocol.model_validate(data)
    except ValidationError as error:
        lines = [_format_error(problem, root, where) for problem in error.errors()[:5]]
        raise InterplayError("\n".join(lines)) from None


def _format_error(error: Any, root: Any, where: str) -> str:
    line, path = _find(root, error["loc"])
    place = getattr(error.get("ctx", {}).get("error"), "place", None)
    if place is not None:
        line = _line_of(root, place) or line
    if error["type"] == "missing":
        path, message = ".".join([*([path] if path else []), str(error["loc"][-1])]), "is missing"
    elif error["type"] == "extra_forbidden":
        message = "is not known here"
    elif error["type"] == "union_tag_invalid":
        key, value, known = (error["ctx"][name] for name in ("discriminator", "tag", "expected_tags"))
        message = f"{key.strip(chr(39))} {value!r} is not known; there is {known}"
    elif error["type"] == "union_tag_not_found":
        message = f"{error['ctx']['discriminator'].strip(chr(39))} is missing"
    else:
        message = error["msg"].removeprefix("Value error, ")
    return f"{where}, line {line}: {path + ': ' if path else ''}{message}"


def _find(root: Any, loc: tuple[int | str, ...]) -> tuple[int, str]:
    """Return the line and path of the deepest part of the file that an error's location names.

    Parts of `loc` that stand for a choice of model are skipped, since the file has nothing by that name.
    """
    import yaml

    node, line, path = root, root.start_mark.line + 1, []
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            entries = {key.value: (key, value) for key, value in node.value}
            if part in entries:
                key, node = entries[part]
                line = key.start_mark.line + 1
                path.append(str(part))
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
            path.append(str(part))
    return line, ".".join(path)


def _line_of(node: Any, place: str) -> int | None:
    """Return the last line on which a part has this id or this key; None if there is none."""
    import yaml

    line = None
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == place or (key.value == "id" and value.value == place):
                line = key.start_mark.line + 1
            line = _line_of(value, place) or line
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            line = _line_of(value, place) or line
    return line
