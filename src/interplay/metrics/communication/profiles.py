"""Named ways to judge the same requests: `ours`, `paper` (Algorithm 3 of the paper) and `authors` (their scripts)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from interplay.errors import UnknownName
from interplay.metrics.communication.records import AuditSettings

ProfileName = Literal["paper", "authors", "ours"]

# Each profile sets every rule of judging; what it does not name (weights, alpha, a window that was given) stays.
PROFILES: Mapping[str, Mapping[str, Any]] = {
    "paper": {
        "redundancy": "literal",
        "checks": "recipe",
        "repeats": "apart",
        "claims": "many",
        "corrections": "same",
    },
    "authors": {
        "redundancy": "partner",
        "checks": "none",
        "repeats": "redundant",
        "claims": "many",
        "corrections": "any",
    },
    "ours": {
        "redundancy": "demand",
        "checks": "recipe and reach",
        "repeats": "ineffective",
        "claims": "one",
        "corrections": "same",
    },
}
AUTHORS_WINDOW = 15  # steps, at every level


def with_profile(settings: AuditSettings, name: str) -> AuditSettings:
    """Return the settings with the rules of a named profile.

    Args:
        settings: Window and weights to keep.
        name: One of PROFILES. `authors` has a window of its own, 15 steps, unless the settings fix one.

    Raises:
        UnknownName: There is no such profile.
    """
    if name not in PROFILES:
        raise UnknownName("profile of judging", name, list(PROFILES))
    window = AUTHORS_WINDOW if name == "authors" and settings.window is None else settings.window
    return replace(settings, window=window, **PROFILES[name])


def profile_name(settings: AuditSettings) -> str:
    """Return the name of the profile whose rules the settings have; "custom" if none has."""
    for name, rules in PROFILES.items():
        if all(getattr(settings, rule) == value for rule, value in rules.items()):
            return name
    return "custom"
