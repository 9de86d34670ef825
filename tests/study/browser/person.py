"""Someone before a browser: reads what page is shown and does what it asks for, by mouse, keyboard or finger."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from interplay.study.db.schema import games

WALK = re.sub(r"^//.*$", "", (Path(__file__).parent / "walk.js").read_text(encoding="utf-8"), flags=re.MULTILINE)
DESKTOP, PHONE = {"width": 1366, "height": 650}, {"width": 390, "height": 844}
FOCUSED = "s => document.activeElement !== null && document.activeElement.matches(s)"


class Person:
    def __init__(self, page: Any, served: Any, pictures: Path, phone: bool):
        self.page, self.served, self._pictures, self._phone = page, served, pictures, phone
        self._walked: set[str] = set()

    # What is shown.

    @property
    def at(self) -> str:
        """The page's id."""
        return self.page.locator("main").get_attribute("data-page")

    @property
    def kind(self) -> str:
        return self.page.locator("main").get_attribute("class").partition("is-")[2]

    def left(self, page: str) -> None:
        """Wait until another page is shown."""
        self.page.wait_for_function("p => document.querySelector('main').dataset.page !== p", arg=page)

    def picture(self, name: str) -> None:
        """The page on a desktop and on a phone, each looked through: nothing cut off, everything named and legible."""
        sizes = {"phone": PHONE} if self._phone else {"desktop": DESKTOP, "phone": PHONE}
        for size, view in sizes.items():
            self.page.set_viewport_size(view)
            self.page.wait_for_timeout(150)  # for what follows a change of size
            self.page.screenshot(path=self._pictures / f"{name}-{size}.png", full_page=True)
            found = self.page.evaluate(WALK)
            assert found == [], f"{name} on a {size}: {found}"
        if not self._phone:
            self.page.set_viewport_size(DESKTOP)

    def picture_now(self, name: str) -> None:
        """As it is at this moment, without a change of size."""
        self.page.screenshot(path=self._pictures / f"{name}-{'phone' if self._phone else 'desktop'}.png")

    def once(self, name: str) -> None:
        """A picture of the first page of its sort."""
        if name not in self._walked:
            self._walked.add(name)
            self.picture(name)

    # Pages by mouse.

    def go_on(self) -> None:
        before = self.at
        self.page.click("main .primary:visible")
        self.left(before)

    def consent(self) -> None:
        for box in self.page.locator("input[type=checkbox]").all():
            box.check()
        self.go_on()

    def fill(self, point: int = 0) -> None:
        """Answer every question: on scales with this point, counted from 0, and else with the first option."""
        for question in self.page.locator(".question").all():
            kinds = question.get_attribute("class")
            if "number" in kinds:
                question.locator("input").fill("31")
            elif "text" in kinds:
                question.locator("textarea").fill("It was fine.")
            elif "likert" in kinds or "two_sided" in kinds:
                question.locator("input").nth(point).check()
            else:
                question.locator("input").first.check()

    # Pages by keyboard.

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, selector: str) -> None:
        for _ in range(120):
            if self.page.evaluate(FOCUSED, selector):
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not lead to {selector}")

    def fill_by_keys(self, point: int = 0) -> None:
        for question in self.page.locator(".question").all():
            field = question.locator("input, textarea, select").first
            name, kind = field.get_attribute("name"), field.get_attribute("type")
            self.tab_to(f"[name='{name}']")
            if kind == "number":
                self.page.keyboard.type("31")
            elif kind == "radio":
                self.press("Space", *["ArrowRight"] * point)
            elif kind == "checkbox":
                self.press("Space")
            else:
                self.page.keyboard.type("It was fine.")

    def send_by_keys(self) -> None:
        before = self.at
        self.tab_to("main .primary")
        self.press("Enter")
        self.left(before)

    # Games.

    def playing(self) -> None:
        """Wait until the game runs: the line is open and the countdown, during which keys do nothing, is over."""
        self.page.wait_for_selector(".line-state", state="hidden")
        self.page.wait_for_function("() => document.querySelector('[class$=-board]:not(.held)') !== null")
        self.page.wait_for_selector("main.is-game .value")

    def over(self) -> float:
        """Wait for the end; the score that is shown."""
        self.page.wait_for_selector(".game-end:visible .primary")
        return float(self.page.inner_text(".game-info output"))

    def leave_by_key(self) -> None:
        """Leave the result by the key of its button, which takes the focus after a while."""
        before = self.at
        self.page.wait_for_selector(".game-end .primary:focus")
        self.press("Enter")
        self.left(before)

    def stored(self, page: str) -> float:
        """The score in the books, of this person's game on a page."""
        who = self.public()
        query = sa.select(games.c.score).where(games.c.page == page, games.c.person == who)
        return self.served.base.database.read(lambda tx: tx.execute(query).scalar_one())

    def public(self) -> int:
        """Who this is in the books, by the cookie."""
        from interplay.server import sessions
        from interplay.study.http.app import cookie_name

        [token] = [
            c["value"] for c in self.page.context.cookies() if c["name"] == cookie_name(self.served.host.protocol)
        ]
        base = self.served.base
        return int(base.database.read(sessions.find, base.clock, token).subject.rpartition(":")[2])
