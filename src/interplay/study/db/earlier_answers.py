"""What is known of a participant from what they answered and played before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from interplay.server.database import Tx
from interplay.study.db.schema import answers as answer_rows
from interplay.study.db.schema import games
from interplay.study.protocol.answer_validation import failed_checks
from interplay.study.protocol.flow import Page, options, ordered
from interplay.study.protocol.model import Protocol

_ANSWERS = (
    sa.select(answer_rows.c.id, answer_rows.c.answers)
    .where(answer_rows.c.person == sa.bindparam("number"))
    .order_by(answer_rows.c.id)
)
_SCORES = (
    sa.select(games.c.score, games.c.practice)
    .where(games.c.person == sa.bindparam("number"), games.c.status == "done", games.c.score.is_not(None))
    .order_by(games.c.id)
)

NO_FACTS: Mapping[str, Any] = {"score": None, "scores": []}  # of those who have not consented yet


def facts(tx: Tx, number: int, *, before: int | None = None) -> dict[str, Any]:
    """Return what conditions may ask of: the last answer to every question, and the scores of finished games.

    Args:
        tx: The transaction.
        number: The participant.
        before: Only what was answered before the answers with this number.
    """
    known: dict[str, Any] = {}
    for stored in tx.execute(_ANSWERS, {"number": number}):
        known |= stored.answers if before is None or stored.id < before else {}
    rows = tx.execute(_SCORES, {"number": number}).all()
    scores = [row.score for row in rows if not row.practice]
    return known | {"score": rows[-1].score if rows else None, "scores": scores}


def item_details(
    page: Page, seed: int, clean: Mapping[str, Any], seen: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return for each question asked: its place, the order of drawn options, and the times of its answer."""
    if page.item.kind not in ("form", "quiz"):
        return None
    details: dict[str, Any] = {}
    for place, question in enumerate((q for q in ordered(page, seed) if q.id in clean), start=1):
        details[question.id] = {"place": place, **seen.get(question.id, {})}
        if question.shuffle:
            details[question.id]["options"] = [option.value for option in options(page, question, seed)]
    return details


def inattentive(tx: Tx, protocol: Protocol, number: int, all_pages: list[Page]) -> bool:
    """Return whether a participant has failed as many attention checks as end the study."""
    if protocol.attention_limit is None:
        return False
    forms = {page.id: page.item.questions for page in all_pages if page.item.kind == "form"}
    query = sa.select(answer_rows.c.page, answer_rows.c.answers).where(answer_rows.c.person == number)
    failed = sum(failed_checks(forms.get(row.page, ()), row.answers) for row in tx.execute(query))
    return failed >= protocol.attention_limit
