"""Rendering of researchers' pages from HTML templates, in which all data is escaped."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup, escape

HERE = Path(__file__).parent
FILES = {"researcher.css": "text/css", "monitor.js": "text/javascript"}
OWN = {"referrer-policy": "same-origin"}  # without any referrer, browsers send forms without an origin
PLACES = (  # of the navigation
    ("monitor", "Monitor"),
    ("participants", "Participants"),
    ("games", "Games"),
    ("design", "Design"),
    ("payments", "Payments"),
    ("export", "Export"),
    ("audit", "Audit log"),
)


def page(name: str, code: int = 200, **values: Any) -> HTMLResponse:
    """Render the template of this name."""
    html = _templates().get_template(f"{name}.html.j2").render(places=PLACES, **values)
    return HTMLResponse(html, code, headers=OWN)


def file(name: str) -> Response | None:
    """Return a style sheet or script of these pages; None if there is none of this name."""
    return Response((HERE / name).read_bytes(), media_type=FILES[name]) if name in FILES else None


@cache
def _templates() -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(when=when, number=number, value=value, payload=payload)
    return templates


def when(time: str | datetime | None, seconds: bool = False) -> Markup:
    """Format a time in UTC to the minute, or to the second; the element's title has the seconds in any case."""
    if time is None:
        return Markup('<span class="quiet">–</span>')
    at = (datetime.fromisoformat(time) if isinstance(time, str) else time).astimezone(UTC)
    exact = escape(at.isoformat(timespec="seconds"))
    text = f"{at:%d %b %H:%M:%S}" if seconds else f"{at:%d %b %H:%M}"
    return Markup(f'<time datetime="{exact}" title="{exact}">{text}</time>')


def number(value: float | int | None, digits: int = 1) -> str:
    """Format a number with at most `digits` decimals; a dash for None."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits and "." in text else text


def value(answer: Any) -> str:
    """Format an answer for people to read."""
    match answer:
        case None:
            return "–"
        case True:
            return "yes"
        case False:
            return "no"
        case list():
            return ", ".join(map(str, answer)) or "none"
    return number(answer, 2) if isinstance(answer, float) else str(answer)


def payload(content: Any) -> str:
    """Format the payload of an event in short."""
    if not isinstance(content, dict):
        return value(content)
    return ", ".join(
        f"{name}: {json.dumps(item, ensure_ascii=False)}" for name, item in content.items() if name != "seqs"
    )
