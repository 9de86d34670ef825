"""What was said and noted in an episode, as lines beside its replay."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from interplay.rollout.episode import RecordedEvent

SILENT = ("call", "belief")  # long, and told elsewhere: prompts and answers are in the trace


def dialogue_lines(events: Iterable[RecordedEvent], seats: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return events as {"t", "seat", "kind", "text"}: messages word for word, plans and verdicts in short."""
    return [
        {"t": event.t, "seat": event.seat, "kind": event.kind, "text": _text(event.kind, event.payload, seats)}
        for event in events
        if event.kind not in SILENT
    ]


def _text(kind: str, payload: Mapping[str, Any], seats: tuple[str, ...]) -> str:
    if kind == "message" and "text" in payload:
        to = payload.get("to")
        name = seats[to] if isinstance(to, int) and 0 <= to < len(seats) else to
        return f"to {name}: {payload['text']}" if name not in (None, "") else str(payload["text"])
    if kind == "plan" and isinstance(payload.get("macros"), list | tuple):
        return ", then ".join(map(_macro, payload["macros"])) or "nothing"
    if kind == "attempt" and "verb" in payload:
        return _macro(payload)
    if kind == "verdict" and "ok" in payload:
        return f"{_macro(payload)}: {'ok' if payload['ok'] else payload.get('message') or payload.get('error')}"
    if kind == "end" and "reason" in payload:
        return str(payload["reason"])
    if kind == "unattended" and "until" in payload:
        why = "another tab was in front" if payload.get("why") == "hidden" else "the line was silent"
        return f"steps before {payload['until']} were not seen: {why}"
    if kind == "takeover" and "partner" in payload:
        return f"{payload['partner']} plays on here"
    if kind == "back":
        return "the participant plays again"
    return json.dumps(dict(payload), default=str, ensure_ascii=False)


def _macro(action: Any) -> str:
    """A macro action as it is written; plans may hold it as words already."""
    if not isinstance(action, Mapping):
        return str(action)
    arguments = (action.get(name) for name in ("object", "place", "number"))
    return f"{action.get('verb')}({', '.join(str(a) for a in arguments if a is not None)})"
