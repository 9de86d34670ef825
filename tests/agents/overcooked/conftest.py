"""The rollouts that the tests of the scripted chefs share."""

from functools import cache

import pytest

from tests.agents.overcooked import kitchens


@pytest.fixture(scope="session")
def play():
    """`play(kitchen, [role, ...], **options)`, each team played once."""
    played = cache(lambda name, lineup, options: kitchens.play(name, list(lineup), **dict(options)))
    return lambda name, lineup, **options: played(name, tuple(lineup), tuple(options.items()))
