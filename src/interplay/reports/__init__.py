"""Reports: tables, figures and replays in one HTML file that needs nothing from outside."""

from interplay.reports.diagrams import Mark, help_graph, timeline
from interplay.reports.document import (
    Columns,
    Figure,
    Group,
    KeyNumber,
    KeyNumbers,
    Report,
    ReportReplay,
    Section,
    TableSection,
    Text,
)
from interplay.reports.figures import FigureEstimate, Point, heat_map, interval_plot, scatter, strip
from interplay.reports.replay import replay_data, still
from interplay.reports.table_report import build_report, crossplay_report, grade_report

__all__ = [
    "Columns",
    "Figure",
    "FigureEstimate",
    "Group",
    "KeyNumber",
    "KeyNumbers",
    "Mark",
    "Point",
    "Report",
    "ReportReplay",
    "Section",
    "TableSection",
    "Text",
    "build_report",
    "crossplay_report",
    "grade_report",
    "heat_map",
    "help_graph",
    "interval_plot",
    "replay_data",
    "scatter",
    "still",
    "strip",
    "timeline",
]  # fmt: skip
