"""Episodes from other people's records, checked and replayed before they are believed."""

from interplay.traces.importers.overcooked_ai import human_episodes, import_overcooked_ai
from interplay.traces.importers.registry import IMPORTERS, LeftOut, sort_out

__all__ = ["IMPORTERS", "LeftOut", "human_episodes", "import_overcooked_ai", "sort_out"]
