"""Forms that browsers send without a script."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from fastapi import Request

from interplay.server.api_error import ApiError

MOST_FIELDS = 5000
Form = Mapping[str, list[str]]


async def read_form(request: Request) -> Form:
    """Return the fields of a URL-encoded form, each a list of its values; an `ApiError` for anything else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise ApiError("bad_request", "send a form")
    fields: dict[str, list[str]] = {}
    try:
        text = (await request.body()).decode("utf-8")
        for name, value in parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS):
            if "\x00" in value:
                raise ValueError("no database can store this")
            fields.setdefault(name, []).append(value)
    except ValueError:
        raise ApiError("bad_request", "this form cannot be read") from None
    return fields


def form_value(form: Form, name: str) -> str:
    """Return the first value of a form's field; empty if there is none."""
    return form.get(name, [""])[0]
