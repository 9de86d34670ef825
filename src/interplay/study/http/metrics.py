"""Numbers about running studies for a monitoring system: `GET /metrics`, as Prometheus reads it, from this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from ipaddress import ip_address

import numpy as np
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response

import interplay
from interplay.study.admin import monitor
from interplay.study.live.app_state import StudyState

RECENT = 2000  # ticks over which lateness is reported
Sample = tuple[str, str, float]  # name, labels, value
KINDS = {
    "interplay_info": ("gauge", "Version of the server."),
    "interplay_participants": ("gauge", "Participants by status."),
    "interplay_games": ("gauge", "Games in play in this process."),
    "interplay_connected": ("gauge", "Participants whose browsers are connected and answer."),
    "interplay_tick_late_seconds": ("gauge", "Lateness of the last ticks of the games in play, by quantile."),
    "interplay_events_total": ("counter", "Events stored by this process."),
    "interplay_commits_total": ("counter", "Commits in which they were stored."),
    "interplay_database_behind": ("gauge", "1 while games wait for the database."),
    "interplay_cpu_seconds_total": ("counter", "Processor time of this process."),
}


def add_metrics(app: FastAPI, studies: Sequence[StudyState]) -> None:
    """Add `/metrics` to the application; only this machine may read it."""

    @app.get("/metrics")
    async def metrics(request: Request) -> Response:
        # A proxy on this machine that was not named to us tells in a header for whom it asks.
        hosts = [request.client.host if request.client else "", *request.headers.getlist("x-forwarded-for")]
        if not all(_is_local(host) for host in hosts if host):
            return PlainTextResponse("only from this machine", 403)
        samples: list[Sample] = [("interplay_info", f'version="{interplay.__version__}"', 1.0)]
        samples.append(("interplay_cpu_seconds_total", "", sum(os.times()[:2])))
        for study in studies:
            samples += await _of_study(study)
        return PlainTextResponse(exposition(samples), media_type="text/plain; version=0.0.4")


async def _of_study(study: StudyState) -> list[Sample]:
    label, log = f'study="{study.protocol.name}"', study.event_log
    counts = await study.base.database.aread(monitor.counts, study.protocol)
    games = list({id(live): live for live in study.games_by_person.values()}.values())
    late = [value for live in games for value in live.late_s[-RECENT // max(1, len(games)) :]]
    samples = [("interplay_participants", f'{label},status="{name}"', float(n)) for name, n in counts.items()]
    samples.append(("interplay_games", label, float(len(games))))
    connected = sum(slot.attending for live in games for slot in live.slots.values())
    samples.append(("interplay_connected", label, float(connected)))
    for q in (0.5, 0.99):
        value = float(np.quantile(late, q)) if late else 0.0
        samples.append(("interplay_tick_late_seconds", f'{label},quantile="{q}"', round(value, 6)))
    samples += [
        ("interplay_events_total", label, float(log.written)),
        ("interplay_commits_total", label, float(log.commits)),
    ]
    return [*samples, ("interplay_database_behind", label, float(log.behind))]


def exposition(samples: Iterable[Sample]) -> str:
    """Return samples in the text format of Prometheus."""
    lines: list[str] = []
    ordered = sorted(samples, key=lambda sample: list(KINDS).index(sample[0]))
    for at, (name, labels, value) in enumerate(ordered):
        if at == 0 or ordered[at - 1][0] != name:
            kind, text = KINDS[name]
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        lines.append(f"{name}{{{labels}}} {value:g}" if labels else f"{name} {value:g}")
    return "\n".join(lines) + "\n"


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
