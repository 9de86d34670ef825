"""Schedules that go by the clock come to their end with it, and never go back."""

from itertools import pairwise

import pytest

from interplay.training.time_schedule import TimeSchedule


def shares(rates, minutes=1.0, total=10_000, many=100):
    """What schedules are at while chunks of `many` updates take as long as the rates say, until it is late."""
    clock = [0.0]
    pace, update, found = TimeSchedule(total, minutes, 0, now=lambda: clock[0]), 0, []
    while update < total and not pace.expired:
        share, slope = pace.plan_chunk(update, many)
        found.append(share)
        update += many
        clock[0] += many / rates[min(len(found), len(rates)) - 1]
        pace.record(update)
        last = share + many * slope
    return found, last, update


@pytest.mark.parametrize("rates", [[50.0], [50.0] * 10 + [100.0], [100.0] * 20 + [40.0], [10.0, 60.0]])
def test_they_rise_and_end_with_the_clock(rates):
    found, last, update = shares(rates)
    assert all(a < b for a, b in pairwise(found))
    assert update < 10_000
    assert last == pytest.approx(1.0, abs=0.05)


def test_who_is_quick_enough_ends_with_the_updates():
    found, last, update = shares([1000.0])
    assert update == 10_000
    assert found[50] == pytest.approx(0.5, abs=0.01)
    assert last == pytest.approx(1.0)
