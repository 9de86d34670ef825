"""Small panels of untrained networks: enough to test what a panel promises."""

import jax

import interplay
from interplay.agents.api import Agent
from interplay.agents.networks import Core, Shape
from interplay.agents.neural import NeuralPolicy, game_key
from interplay.partners.panel import PanelMember, Response, ReturnEstimate
from interplay.partners.panel_file import rounded, write_panel

GAME = "overcooked/cramped_room"


def game_of(**options):
    return interplay.make(GAME, **({"horizon": 60} | options))


def network(game, name, seed, width=8):
    shape = Shape(input=game.encodings["features"].shape, outputs=6, widths=(width,))
    core = rounded(Core(shape, 1.0, jax.random.key(seed)))
    return Agent(name, NeuralPolicy(core, "features", trained_for=game_key(game)))


def member(game, number, worth=(40.0, 50.0), **changes):
    """A partner with a best response in each seat, worth so many points."""
    responses = tuple(
        Response(
            seat,
            network(game, f"br{number}.{seat}", 100 + 2 * number + seat),
            "made up",
            ReturnEstimate(j, j - 4, j + 4, 50),
        )
        for seat, j in enumerate(worth)
    )
    given = {
        "kind": "generated",
        "skill": "final",
        "candidate": number,
        "self_play": ReturnEstimate(20.0, 15.0, 25.0, 50),
        "notes": {"preference": {"delivery": -20.0}},
    }
    return PanelMember(network(game, f"p{number}", number), responses=responses, **given | changes)


def panel_of(folder, game, members=None, name="made_up"):
    return write_panel(folder, name, game, members or [member(game, 0), member(game, 1)], {"seed": 0})
