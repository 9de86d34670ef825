"""Checking what a server signed, without the server: the signature, and the numbers against replayed traces."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interplay.challenge.results import digest
from interplay.errors import InterplayError
from interplay.server.signatures import canonical, fingerprint, verify
from interplay.table import Row, Table
from interplay.traces import TraceSet
from interplay.traces import verify as verify_traces
from interplay.traces.export import from_record
from interplay.untrusted_files import lines, parse_json, read_json


def check(path: str | Path, public: str | None = None, traces: str | Path | None = None) -> Table:
    """One row for each thing that was checked: what, whether it is fine, and what was found."""
    signed = read_json(path)
    rows: list[Row] = []
    try:
        content = verify(signed, public)
    except InterplayError as error:
        return Table.of([{"checked": "signature", "fine": False, "found": str(error)}], "Checks")
    by = f"signed by {fingerprint(signed['signature']['public_key'])}"
    rows.append({"checked": "signature", "fine": True, "found": by})
    if public is None:
        unknown = "unsigned by the host: give the host's key (--public-key or --url); anyone can sign with another"
        rows.append({"checked": "signed by the host", "fine": False, "found": unknown})
    else:
        rows.append({"checked": "signed by the host", "fine": True, "found": "by the key that you trust"})
    if traces is not None:
        records = [parse_json(line, f"{traces}, line {n}") for n, line in lines(traces) if line.strip()]
        try:
            rows += _against(content, records)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise InterplayError(f"{path} or {traces} is not as a server writes it: {error!r:.200}") from None
    return Table.of(rows, "Checks")


def _against(content: Mapping[str, Any], records: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """A result against its traces: each replays, together they are the games that were signed, and give the means."""
    if content.get("format") != "interplay-challenge-result":
        raise InterplayError("traces belong to a result; this is something else that was signed")
    report = verify_traces(TraceSet.in_memory(from_record(record) for record in records))
    first = report.problems[0] if report.problems else None
    yield {"checked": "replay", "fine": first is None, "found": str(first or f"{len(records)} games replay")}
    booked = content["games"]
    seen = [[record["episode"], digest(record)] for record in records]
    same = seen == [[number, hashed] for number, _, _, _, hashed in booked]
    yield {"checked": "games", "fine": same, "found": "the signed ones" if same else "not those that were signed"}
    whole = hashlib.sha256(canonical(booked)).hexdigest() == content["games_sha256"]
    yield {"checked": "list of games", "fine": whole, "found": "as hashed" if whole else "does not fit its hash"}
    scores = {record["episode"]: record["score"] for record in records}
    for setting in content["settings"]:
        mine = [(number, score) for number, name, _, score, _ in booked if name == setting["setting"]]
        mean = float(np.mean([score for _, score in mine]))
        differ = [n for n, score in mine if n in scores and scores[n] != score]
        fine = abs(mean - setting["mean"]) < 1e-9 and len(differ) <= setting["forfeits"]
        mean_text = f"mean {mean:.4f} of {len(mine)} games"
        yield {"checked": f"score of {setting['setting']}", "fine": fine, "found": mean_text}
