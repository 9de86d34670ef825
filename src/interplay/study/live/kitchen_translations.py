"""All phrases of the kitchen, by their English, with the Chinese translation: `kitchen_translations.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

SLOT = re.compile(r"\{(\w+)\}")
PHRASES: Mapping[str, Mapping[str, str]] = {
    phrase: {"zh": chinese}
    for phrase, chinese in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
