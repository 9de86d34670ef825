"""Names with a place for the layout: one name for the agents of all kitchens."""

import pytest

import interplay
from interplay.agents.registry import name_in
from interplay.errors import InterplayError
from interplay.partners.panels import panel
from interplay.rollout.teams import Team, ego_teams
from interplay.study.live.partner_engines import partner_agents

NAME = "trained/overcooked/{layout}/hsp-1"
CIRCUIT = "trained/overcooked/counter_circuit/hsp-1"  # comes with interplay itself


def test_the_layout_of_the_game_fills_the_place():
    game = interplay.make("overcooked/counter_circuit")
    assert name_in(NAME, game) == CIRCUIT
    assert name_in("overcooked/greedy", game) == "overcooked/greedy"
    team = Team.of(game, [NAME, "overcooked/greedy"])
    assert team.identities == Team.of(game, [CIRCUIT, "overcooked/greedy"]).identities
    assert ego_teams(game, "stay", [NAME])[0].identities[1].name == CIRCUIT
    assert panel(game, partners=[NAME]).partners[0].name == CIRCUIT
    assert partner_agents(game, NAME)[0].name == CIRCUIT
    assert Team.of(game, [f"greedy:{NAME}+0.1", "stay"]).identities[0].name == f"greedy:{CIRCUIT}+0.1"


def test_without_a_game_there_is_no_agent():
    with pytest.raises(InterplayError, match="place for a layout"):
        interplay.agent(NAME)
    with pytest.raises(InterplayError, match="2p"):
        Team.of(interplay.make("hanabi/2p"), [NAME, "random"])
