"""How researchers' pages are rendered: templates of plain HTML, in which everything that comes from data is escaped."""

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
OWN = {"referrer-policy": "same-origin"}  # where no referrer is told at all, browsers send forms without an origin
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
    """A page by the name of its template."""
    html = _templates().get_template(f"{name}.html.j2").render(places=PLACES, **values)
    return HTMLResponse(html, code, headers=OWN)


def file(name: str) -> Response | None:
    """A style sheet or script of these pages."""
    return Response((HERE / name).read_bytes(), media_type=FILES[name]) if name in FILES else None


@cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(when=when, number=number, value=value, payload=payload)
    return made


def when(time: str | datetime | None, seconds: bool = False) -> Markup:
    """A time in UTC, to the minute or to the second; to the second on the element's title."""
    if time is None:
        return Markup('<span class="quiet">–</span>')
    at = (datetime.fromisoformat(time) if isinstance(time, str) else time).astimezone(UTC)
    exact = escape(at.isoformat(timespec="seconds"))
    shown = f"{at:%d %b %H:%M:%S}" if seconds else f"{at:%d %b %H:%M}"
    return Markup(f'<time datetime="{exact}" title="{exact}">{shown}</time>')


def number(found: float | int | None, digits: int = 1) -> str:
    if found is None:
        return "–"
    if isinstance(found, bool) or not isinstance(found, float):
        return str(found)
    text = f"{found:.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits and "." in text else text


def value(found: Any) -> str:
    """An answer, for people to read."""
    match found:
        case None:
            return "–"
        case True:
            return "yes"
        case False:
            return "no"
        case list():
            return ", ".join(map(str, found)) or "none"
    return number(found, 2) if isinstance(found, float) else str(found)


def payload(found: Any) -> str:
    """What an event holds, in short."""
    if not isinstance(found, dict):
        return value(found)
    return ", ".join(f"{name}: {json.dumps(one, ensure_ascii=False)}" for name, one in found.items() if name != "seqs")
