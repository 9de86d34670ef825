"""Partners in words, and responses that are compared beyond noise."""

import numpy as np
import pytest

from interplay.agents.api import Agent
from interplay.agents.basic import Random
from interplay.games.registry import capability, make
from interplay.partners.best_responses import p_above
from interplay.partners.describe import describe, descriptions
from interplay.partners.features import BehaviourFeatures
from interplay.partners.known import named_agents, policy_stacks, scripted_agents
from interplay.partners.panel import PanelMember, ReturnEstimate
from interplay.partners.panel_file import read_panel
from interplay.partners.panels import SHIPPED, all_shipped

WORDS = {"dish": ["hoards dishes", "leaves dishes alone"], "pot": ["fills pots", "ignores pots"]}
OWN = BehaviourFeatures(
    tuple(range(5)),
    ("dish@seat0", "dish@seat1", "pot@seat0", "pot@seat1"),
    np.full(5, 50.0),
    np.array([[9.0, 9, 0, 0], [1, 1, 5, 5], [2, 2, 4, 4], [3, 3, 3, 3], [0, 0, 9, 9]]),
)


def partner(candidate, preference, skill="final", **notes):
    return PanelMember(
        Agent("c", Random()),
        "generated",
        skill,
        candidate,
        notes={"preference": preference} | notes if preference else notes,
    )


def test_a_preference_that_is_seen_is_told():
    told = describe(partner(0, {"dish": 10.0, "pot": -20.0, "task": 0.1}), WORDS, OWN)
    assert told == "ignores pots, hoards dishes"  # the stronger first
    assert describe(partner(0, {"dish": 10.0}, "mid"), WORDS, OWN) == "hoards dishes (half-skilled)"
    assert describe(partner(0, {"STAY": -0.1}), WORDS, OWN) == "avoids STAY"


def test_what_is_not_seen_gives_way_to_what_is():
    assert describe(partner(4, {"dish": 10.0}), WORDS, OWN) == "leaves dishes alone, fills pots"
    assert describe(partner(2, {"dish": 10.0, "pot": 10.0}), WORDS, OWN) == "hoards dishes, fills pots"  # in the middle
    assert describe(partner(3, {"task": 1.0}), WORDS, OWN) == "plays for points"
    assert describe(partner(None, None), WORDS, OWN) is None
    assert describe(partner(None, None, description="dawdles"), WORDS, None) == "dawdles"


def test_every_generated_partner_that_is_shipped_has_words():
    for game, name in all_shipped():
        found = descriptions(read_panel(SHIPPED / game / name))
        if name == "generated":
            assert all(found.values())
            assert len(set(found.values())) > len(found) / 2
    game = make("overcooked/counter_circuit")
    words = capability(game, "reward_space")(game)["words"]
    assert all(len(pair) == 2 for pair in words.values())


def test_above_beyond_noise():
    ten, noisy = ReturnEstimate.of([9.0, 10.0, 11.0] * 60), ReturnEstimate.of([0.0, 12.0, 21.0] * 3)
    assert p_above(ReturnEstimate.of([10.0, 11.0, 12.0] * 60), ten) < 1e-6
    assert p_above(noisy, ten) > 0.3  # 11 on average, in nine episodes
    assert p_above(ten, ten) == pytest.approx(0.5)
    exact = ReturnEstimate.of([10.0] * 20)
    assert (p_above(exact, exact), p_above(ReturnEstimate.of([11.0] * 20), exact)) == (1.0, 0.0)


def test_welch_from_intervals_is_that_of_the_episodes():
    from interplay.stats import t_test_welch

    generator = np.random.default_rng(0)
    one, other = generator.normal(11, 3, 40), generator.normal(10, 2, 90)
    wanted = t_test_welch(one, other, alternative="greater").p
    assert p_above(ReturnEstimate.of(one), ReturnEstimate.of(other)) == pytest.approx(wanted, rel=1e-6)


def test_known_agents_by_kind(tmp_path):
    game = make("overcooked/cramped_room")
    chefs = scripted_agents(game)
    stacks = policy_stacks(game, chefs)
    assert sorted(n for stack in stacks for n in stack.names) == sorted(a.name for a in chefs)
    assert len(stacks) == 3  # chefs, with noise and without; one who stays; one at random
    (one,) = named_agents("mine=overcooked/greedy")
    assert one.name == "overcooked/greedy"  # by which it is found again; only networks can be called anything
    (other,) = named_agents("mine=trained/overcooked/cramped_room/bc-1")
    assert other.name == "mine"
    with pytest.raises(Exception, match="write NAME=AGENT"):
        named_agents("=overcooked/greedy")
    with pytest.raises(Exception, match="two agents are called 'overcooked/greedy'"):
        policy_stacks(game, [one, one])
