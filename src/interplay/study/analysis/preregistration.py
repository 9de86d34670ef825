"""Pre-registrations: a plan, dated and hashed before anyone takes part, and how an analysis departs from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.errors import InterplayError
from interplay.study.analysis.analysis_list import default_plan
from interplay.study.protocol.model import Protocol
from interplay.table import Row, Table
from interplay.untrusted_files import read_json

if TYPE_CHECKING:
    from interplay.study.db.records import Records

FORMAT = 1
KEYS = ("format", "study", "title", "created", "protocol", "people", "stopping", "hypotheses", "plan")


def make(
    protocol: Protocol, *, people: int, hypotheses: Sequence[str] = (), stopping: str = "", now: datetime | None = None
) -> dict[str, Any]:
    """Return the pre-registration of a study.

    Args:
        protocol: The study, whose analyses and exclusion rules are the plan; the usual ones if it names none.
        people: How many people are to be analysed.
        hypotheses: What is expected, in words.
        stopping: When recruiting ends, if not with that number.
        now: The time that it bears; None is this moment.

    Raises:
        InterplayError: The number of people is not positive.
    """
    if people < 1:
        raise InterplayError(f"people: {people}; a plan says how many people are to be analysed, at least 1")
    plan = protocol.analysis or default_plan(protocol)
    content = {
        "format": FORMAT,
        "study": protocol.name,
        "title": protocol.title,
        "created": (now or datetime.now(UTC)).isoformat(timespec="seconds"),
        "protocol": protocol.hash,
        "people": people,
        "stopping": stopping or f"when {people} people can be analysed",
        "hypotheses": list(hypotheses),
        "plan": [part.model_dump(mode="json") for part in plan],
    }
    return content | {"sha256": digest(content)}


def digest(content: Mapping[str, Any]) -> str:
    """Return the hash of all that a pre-registration says but the hash itself."""
    plain = {name: content.get(name) for name in KEYS}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def write(content: Mapping[str, Any], path: str | Path) -> Path:
    """Write a pre-registration into a new file.

    Raises:
        InterplayError: The file is there already.
    """
    path = Path(path)
    try:
        with path.open("x", encoding="utf-8") as file:
            json.dump(content, file, indent=1, ensure_ascii=False)
            file.write("\n")
    except FileExistsError:
        raise InterplayError(f"{path} is there already, and a plan is not overwritten: choose another name") from None
    return path


def read(path: str | Path) -> dict[str, Any]:
    """Return a pre-registration, if it says what its hash says it does.

    Raises:
        InterplayError: It is none, or was changed after it was written.
    """
    content = read_json(path)
    if not isinstance(content, dict) or any(name not in content for name in (*KEYS, "sha256")):
        raise InterplayError(f"{path} is no pre-registration: `interplay study preregister` writes one")
    if content["format"] != FORMAT:
        raise InterplayError(f"{path} has the format {content['format']!r}, and this version reads {FORMAT}")
    if content["sha256"] != digest(content):
        raise InterplayError(f"{path} was changed after it was written: its hash is not that of what it says")
    return content


def departures(
    content: Mapping[str, Any], records: Records, plan: Sequence[Any], analysed: int, extra: Sequence[str] = ()
) -> Table:
    """Return where an analysis departs from its pre-registration; an empty table if it does not.

    Args:
        content: The pre-registration.
        records: What was recorded.
        plan: The analyses that were run.
        analysed: How many people were analysed.
        extra: What was asked for beside the plan, such as `--without`.

    Raises:
        InterplayError: It is the plan of another study.
    """
    if content["study"] != records.protocol.name:
        raise InterplayError(f"the pre-registration is of {content['study']!r}, not of {records.protocol.name!r}")
    rows: list[Row] = []

    def depart(what: str, planned: Any, done: Any) -> None:
        rows.append({"what": what, "planned": _text(planned), "done": _text(done)})

    consents = [row["consented"] for row in records.participants if row["consented"]]
    before = [time for time in consents if datetime.fromisoformat(time) < datetime.fromisoformat(content["created"])]
    if before:
        depart("registered before anyone took part", content["created"], f"{len(before)} had consented before")
    if records.protocol.hash != content["protocol"]:
        depart("the study as participants see it", content["protocol"], records.protocol.hash)
    if analysed != content["people"]:
        depart("people analysed", content["people"], analysed)
    planned = {part["id"]: part for part in content["plan"]}
    run = {part.id: part.model_dump(mode="json") for part in plan}
    for name in dict.fromkeys([*planned, *run]):
        if name not in run:
            depart(f"analysis {name!r}", planned[name], "left out")
        elif name not in planned:
            depart(f"analysis {name!r}", "not planned", run[name])
        else:
            for key in dict.fromkeys([*planned[name], *run[name]]):
                old, new = planned[name].get(key), run[name].get(key)
                if old != new and key != "title":
                    depart(f"analysis {name!r}: {key}", old, new)
    for what in extra:
        depart("asked for beside the plan", "nothing", what)
    return Table.of(rows, "Departures from the pre-registration", columns=["what", "planned", "done"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
