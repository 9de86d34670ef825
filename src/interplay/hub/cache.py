"""Where interplay keeps what can be made or fetched again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "INTERPLAY_CACHE"


def cache_folder() -> Path:
    """Return the cache folder: `INTERPLAY_CACHE`, or `interplay` in the folder that the platform has for caches."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    home = Path(os.path.expanduser("~"))  # stays "~" for a user without a home, where Path.home() fails
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "interplay"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "interplay"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "interplay" / "Cache"
    return home / ".cache" / "interplay"
