"""What the reader gets: tables, figures and replays in one HTML file that needs nothing from outside."""

from interplay.report.build import build_report, crossplay_report, grade_report
from interplay.report.diagrams import Mark, help_graph, timeline
from interplay.report.document import (
    Columns,
    Figure,
    Group,
    KeyNumber,
    KeyNumbers,
    Replay,
    Report,
    Section,
    TableSection,
    Text,
)
from interplay.report.figures import Estimate, Point, heat_map, interval_plot, scatter, strip
from interplay.report.replay import replay_data, still

__all__ = [
    "Columns", "Estimate", "Figure", "Group", "KeyNumber", "KeyNumbers", "Mark", "Point", "Replay", "Report", "Section",
    "TableSection", "Text", "build_report", "crossplay_report", "grade_report", "heat_map", "help_graph",
    "interval_plot", "replay_data", "scatter", "still", "strip", "timeline",
]  # fmt: skip
