"""Games that tick at the same time are woken together."""

import asyncio
import time

from interplay.study.live.game_session import SharedTicks


def test_all_who_wait_for_a_tick_are_woken_in_one_pass_and_one_who_leaves_takes_nobody_along():
    woken: list[str] = []

    async def wait(ticks: SharedTicks, due: float, name: str) -> None:
        await ticks.wait(due)
        woken.append(name)

    async def play() -> None:
        ticks, due = SharedTicks(), time.monotonic() + 0.05
        tasks = [asyncio.create_task(wait(ticks, due, name)) for name in "abc"]
        late = asyncio.create_task(wait(ticks, due + 0.05, "late"))
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.wait({tasks[0]})
        assert woken == ["a", "c"]  # without another pass of the event loop
        await late

    asyncio.run(play())
    assert woken == ["a", "c", "late"]


def test_a_tick_that_is_past_comes_at_once():
    async def play() -> float:
        began = time.monotonic()
        await SharedTicks().wait(began - 1.0)
        return time.monotonic() - began

    assert asyncio.run(play()) < 0.5
