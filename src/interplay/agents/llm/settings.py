"""Settings of a language-model player, for the library, the command line and the trace."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from interplay.agents.llm.templates import versions
from interplay.errors import InterplayError, UnknownName

MEMORIES = ("none", "recent", "full")
DIALOGUES = ("cap", "one_way", "silent")
ACTIONS = ("all", "none", "choose")
CHOOSING = ("3", "4", "5")  # versions of the kitchen's prompts in which an answer can be one action of a list


@dataclass(frozen=True, kw_only=True)
class LLMSettings:
    """What distinguishes two players of one model. Recorded with every trace."""

    scaffold: str = "baseline"  # what is worked out about the partner before a decision (kitchen)
    memory: str = "recent"  # own past that a prompt tells: none, recent (the last 12 lines), full
    dialogue: str = "cap"  # cap: answers within the step up to turn_cap; one_way: heard, not answered; silent: no talk
    turn_cap: int = 6  # messages in one dialogue
    temperature: float = 0.0
    max_tokens: int = 1024  # of one answer; one that is cut off counts as a format error
    actions: str = "all"  # of those possible now, which a prompt lists: all, none; choose: one of the list (kitchen)
    prompts: str = "3"  # version of the kitchen's prompts, or published: the structure of the paper's
    reasoning_tokens: int = 0  # room for thinking, on top of max_tokens; for Anthropic's API the budget of thinking
    reasoning_effort: str = ""  # for endpoints that know it: low, medium, high
    conventions: bool = False  # Hanabi: tell the level-1 conventions
    printed_rules: bool = False  # Hanabi: the token counts as first printed (3 clues, 8 lives), which are swapped

    def __post_init__(self):
        for name, known in (("memory", MEMORIES), ("dialogue", DIALOGUES), ("actions", ACTIONS)):
            if getattr(self, name) not in known:
                raise UnknownName(name, str(getattr(self, name)), list(known))
        if self.prompts not in versions("kitchen"):
            raise UnknownName("version of the kitchen prompts", self.prompts, versions("kitchen"))
        if self.actions == "choose" and self.prompts not in CHOOSING:
            raise InterplayError(
                f"actions choose: prompts {self.prompts} do not ask for it; take {' or '.join(CHOOSING)}"
            )
        if self.turn_cap < 1:
            raise InterplayError(f"turn_cap: {self.turn_cap}; a dialogue has at least one message")
        if not 0 <= self.temperature <= 2:
            raise InterplayError(f"temperature: {self.temperature}; it is between 0 and 2")
        if self.max_tokens < 16:
            raise InterplayError(f"max_tokens: {self.max_tokens}; an answer needs more")
        if self.reasoning_tokens < 0:
            raise InterplayError(f"reasoning_tokens: {self.reasoning_tokens}; at least 0")

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> LLMSettings:
        """Make the settings from options.

        Raises:
            UnknownName: An option is not a field.
        """
        known = [f.name for f in dataclasses.fields(cls)]
        for option in options:
            if option not in known:
                raise UnknownName("option of a language model", option, known)
        return cls(**options)

    def recorded(self) -> dict[str, Any]:
        """Return what identifies a player: fields added later only where they differ from what was fixed before."""
        before = {"actions": "all", "reasoning_tokens": 0, "reasoning_effort": "", "prompts": "2"}
        return {name: value for name, value in dataclasses.asdict(self).items() if before.get(name, ...) != value}

    def changes(self) -> dict[str, Any]:
        """Return what differs from the defaults."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if getattr(self, f.name) != f.default}
