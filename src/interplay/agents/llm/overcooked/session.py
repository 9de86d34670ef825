"""A session in which a language model plays a chef: it is asked for a task, and again when that is done."""

from __future__ import annotations

import numpy as np

from interplay.agents.api import Move, View
from interplay.agents.llm.answers import TEXT, AnswerShape
from interplay.agents.llm.chat import ChatMessage, system_and_user
from interplay.agents.llm.metered_calls import Caller
from interplay.agents.llm.overcooked.macros import MacroKitchen, MacroTask, look, next_action, tasks
from interplay.agents.llm.settings import LLMSettings
from interplay.games.overcooked.game import Overcooked
from interplay.games.overcooked.state import INTERACT, STAY, OvercookedItem

VERSION = "1"  # of the prompts; a change that a model could notice is a new one
PATIENCE = 6  # steps without getting on, after which the chef thinks again
REMEMBERED = 8
REST = MacroTask("wait for 1 step", steps=1)
LETTERS = {"O": "onion", "T": "tomato"}


class OvercookedSession:
    """One chef in one episode. If its model cannot be asked any more it stands still, and the trace records it."""

    def __init__(self, caller: Caller, settings: LLMSettings):
        self._caller, self._settings = caller, settings
        caller.template = f"overcooked/{VERSION}"
        self._game: Overcooked = caller.game  # type: ignore[assignment]
        self._task: MacroTask | None = None
        self._left = 0  # steps of waiting, or of patience
        self._before: MacroKitchen | None = None
        self._acted = STAY
        self._past: list[str] = []
        self._over = False

    async def act(self, view: View) -> Move:
        """Return the next step of the task; ask for a new task if there is none."""
        now = look(view.look("state").state)
        self._follow_up(now, view.seat, view.t)
        if self._task is None:
            self._task = await self._choose(view, now)
            self._left = self._task.steps or PATIENCE
        action = next_action(self._game, now, view.seat, self._task)
        if not view.legal[action]:
            action = STAY
        self._before, self._acted = now, action
        return Move(action, self._caller.take_events())

    def _follow_up(self, now: MacroKitchen, seat: int, t: int) -> None:
        """Decide whether the task is done, given up, or continues."""
        before, task = self._before, self._task
        if before is None or task is None:
            return
        hand = before.held[seat] != now.held[seat]
        pot = self._acted == INTERACT and any(
            before.timer[c] != now.timer[c] and before.timer[c] < 0 for c in task.cells
        )
        if hand or pot:
            self._remember(t, f"done: {task.text}")
        elif task.cells and before.cell[seat] != now.cell[seat]:
            self._left = PATIENCE
            return
        else:
            self._left -= 1
            if self._left > 0:
                return
            self._remember(
                t, f"{'waited' if not task.cells else 'given up, somebody or something is in the way'}: {task.text}"
            )
        self._task = None

    def _remember(self, t: int, text: str) -> None:
        self._past.append(f"step {t}: {text}")

    async def _choose(self, view: View, now: MacroKitchen) -> MacroTask:
        if self._over:
            return self._fall_back()
        options = {task.text: task for task in tasks(self._game, now, view.seat)}
        shape = AnswerShape({"analysis": TEXT, "task": tuple(options)})
        messages = system_and_user(self._system(view.seat), self._user(view, now, list(options)))

        def correct(error: str) -> tuple[ChatMessage, ...]:
            text = f"{messages[1].text}\n\nYour last answer cannot be used: {error}. Answer again."
            return system_and_user(messages[0].text, text)

        answer = await self._caller.ask_corrected(messages, shape, "task", correct)
        if answer is None:
            self._over = True
            return self._fall_back()
        chosen = options[answer.fields["task"]] if answer.fields else self._fall_back()
        self._caller.note("plan", task=chosen.text, fallback=answer.fields is None)
        return chosen

    def _fall_back(self) -> MacroTask:
        self._caller.note("fallback", action=REST.text)
        return REST

    def _system(self, seat: int) -> str:
        game, menu = self._game, self._game.menu
        soups = "; ".join(" + ".join(LETTERS[letter] for letter in order) for order in menu.orders)
        starts = "by itself once it holds three ingredients" if menu.auto_cook else "when a chef starts it"
        cook_time = int(np.max(game.kitchen.time))
        return (
            f"You are {game.seat_names[seat]} of {game.num_seats} in a kitchen. Together you deliver as many soups as "
            f"you can in {game.horizon} steps. Ordered: {soups}.\n"
            f"How a soup is made: put its ingredients into a pot, one at a time. Cooking begins {starts} and takes "
            f"{cook_time} steps. Then fill a dish with the soup and deliver it. A chef holds one thing at a time; "
            "things can be passed on over counters.\n"
            "You choose one task at a time; walking is done for you, and you are asked again when the task is done or "
            "does not get on. You cannot talk. Watch what your partner does, do what is still missing, and keep out of "
            'its way.\nAnswer with one JSON object: "analysis" (brief), "task" (exactly as listed).'
        )

    def _user(self, view: View, now: MacroKitchen, options: list[str]) -> str:
        past = self._past[-REMEMBERED:] if self._settings.memory == "recent" else self._past
        past_text = "\n".join(past) if past and self._settings.memory != "none" else "nothing yet"
        empty = "nothing" if now.held[view.seat] == OvercookedItem.NOTHING else "something"
        return (
            f"# Kitchen\n{view.text()}\n(you are {self._game.seat_names[view.seat]}, and you hold {empty}; P pot, "
            "X counter, O onions, T tomatoes, D dishes, S serving; places are (x, y) from the top left)\n\n"
            f"# What you did\n{past_text}\n\n# Your tasks\n" + "\n".join(f"- {option}" for option in options)
        )
