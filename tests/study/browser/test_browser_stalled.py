"""A browser that stops drawing for a while: the game stands still, both sides see why, and it goes on to its end."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from interplay.study.db.schema import events
from tests.study.browser.conftest import quick

pytestmark = pytest.mark.browser

FREEZE = """() => setTimeout(() => {
  const until = performance.now() + 2500;
  while (performance.now() < until);
}, 0)"""


def test_a_stalled_line_stops_the_game_for_both_and_it_goes_on(arrive, serve):
    served = serve(quick("human_human", steps=60, name="stalled"))  # the countdown is longer than patience
    one, two = arrive(served), arrive(served)
    for me in (one, two):
        me.consent()
        me.go_on()
    one.left("partner")
    for me in (one, two):
        me.playing()
    number = one.public()
    one.page.evaluate(FREEZE)
    two.page.wait_for_selector("text=Paused: your partner's connection is slow or lost")
    two.picture_now("stalled-1-partner")
    stood = int(two.page.get_attribute(".grid-board", "data-t"))
    for me in (one, two):
        me.page.wait_for_selector(".countdown:visible")
    assert int(two.page.get_attribute(".grid-board", "data-t")) == stood, "the game went on without its participant"
    two.picture_now("stalled-2-countdown")
    assert {me.over() for me in (one, two)} == {one.stored("rounds.1.round")}
    kinds = sa.select(events.c.kind).where(events.c.person == number, events.c.kind.in_(("silent", "heard")))
    noted = served.base.database.read(lambda tx: tx.execute(kinds.order_by(events.c.id)).scalars().all())
    assert noted[:2] == ["silent", "heard"]
