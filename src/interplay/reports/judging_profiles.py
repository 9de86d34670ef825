"""The same transcripts judged by several named profiles, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from interplay.metrics.communication.profiles import with_profile
from interplay.metrics.communication.records import CATEGORIES
from interplay.reports.communication import GROUPS, CommunicationAudit
from interplay.table import Row, Table

RATES = ("follow_rate", "follow_rate_all")


def compare_judgings(audit: CommunicationAudit, names: Sequence[str], by: str = "pairing", seed: int = 0) -> Table:
    """Judge the transcripts of an audit by each profile.

    Args:
        audit: The audit; its window, if fixed, and its weights hold for all profiles.
        names: Profiles, such as paper, authors and ours.
        by: What rows are grouped by, as in `CommunicationAudit.summary`.
        seed: Seed of the bootstrap.

    Returns:
        A row per group and profile: requests, the share of each outcome among all requests, unstructured messages
        (a count), and follow rates as means over episodes with their intervals.
    """
    rows: list[Row] = []
    for name in names:
        judged = replace(audit, settings=with_profile(audit.settings, name))
        counts = {tuple(row[c] for c in GROUPS[by]): row for row in _counts(judged, by)}
        for row in judged.summary(by, RATES, seed):
            group = counts.setdefault(tuple(row[c] for c in GROUPS[by]), {})
            group |= {row["metric"]: row["mean"], f"{row['metric']}_low": row["low"]}
            group |= {f"{row['metric']}_high": row["high"]}
        window = judged.settings.window_name
        for key, row in counts.items():
            rows.append(dict(zip(GROUPS[by], key, strict=True)) | {"judging": name, "window": window} | row)
    rows.sort(key=lambda row: [str(row[c]) for c in GROUPS[by]])
    return Table.of(rows, "The same requests, judged by several profiles")


def _counts(audit: CommunicationAudit, by: str) -> list[Row]:
    rows = []
    for key, part in audit.judged.groups(*GROUPS[by]).items() if len(audit.judged) else ():
        n = {category: len(part.where(category=category)) for category in CATEGORIES}
        unstructured = n.pop("unstructured")
        requests = sum(n.values())
        shares = {category: count / requests if requests else None for category, count in n.items()}
        rows.append(
            dict(zip(GROUPS[by], key, strict=True)) | {"requests": requests, "unstructured": unstructured} | shares
        )
    return rows
