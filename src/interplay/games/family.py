"""Families of games: how their games are made, and what can be done with them.

Everything is a reference `module:Thing` that is imported when used, so that a game may name what depends on it (its
symbolic domain, its prompts for language models) without importing it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from interplay import trust
from interplay.games.api import Game

LONGEST = 1_000_000  # steps of an episode


@dataclass(frozen=True, kw_only=True)
class GameFamily:
    """A family of games, such as all kitchens of Overcooked, registered under one name.

    What a family leaves out has a generic form where one is possible: `interplay certify` searches small games breadth
    first, language models play from `render` and `action_names`, the browser shows `scene`, and the default panel is
    the agents that are registered under the family's name. A game without a family may have the same names as
    attributes, with the thing itself in place of a reference.
    """

    name: str
    build: str  # function (variant, options) -> Game, which checks the options by the record below
    options: str  # dataclass of the family's options; fields with metadata {"local": True} name files of this machine
    variants: str | None = None  # function () -> names of the variants; None: they are not listed
    symbolic_domain: str | None = None  # class of `symbolic.declare.Reader`: facts and operators of an episode
    solver: str | None = None  # class of `symbolic.certify.Solver`: searches for plans to the game's goal
    planning_model: str | None = None  # class of `symbolic.planning.PlanningModel`: the game as typed, spatial PDDL
    remove_object: str | None = None  # function (game, before, after, giver) -> `after` without what was handed over
    llm_session: str | None = None  # class that asks a language model for actions
    llm_dialogue: str | None = None  # class that lets a language model talk within a step
    request_reader: str | None = None  # function (game, messages, executions) -> requests that were made in words
    reward_space: str | None = None  # function (game) -> what evaluation partners may prefer
    partners: tuple[str, ...] = ()  # agents of the default panel
    score_options: tuple[str, ...] = ()  # options that change how a game is scored, and nothing that an agent sees
    score_rule: str | None = None  # function (game) -> in words, what those options make of the score
    browser_view: str | None = None  # `study.live.browser_views.BrowserView`: how people see and play it
    replay_events: tuple[str, ...] = ()  # events that are marked on a replay's bar

    def make(self, variant: str = "", **options: Any) -> Game:
        """Make a game of this family.

        Raises:
            InterplayError: An option is unknown or of another type than the family declares.
        """
        return trust.import_object(self.build)(variant, options)

    def names(self) -> list[str]:
        """Return the names of the variants."""
        return [] if self.variants is None else list(trust.import_object(self.variants)())

    def options_type(self) -> type:
        """Return the dataclass of the options."""
        return trust.import_object(self.options)

    def local_options(self) -> list[str]:
        """Return the options that name files of this machine, which data may not do."""
        return [f.name for f in dataclasses.fields(self.options_type()) if f.metadata.get("local")]
