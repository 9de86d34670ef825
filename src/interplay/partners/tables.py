"""A panel's content as tables and features."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from interplay.errors import InterplayError
from interplay.partners.features import BehaviourFeatures, able
from interplay.partners.kdpp import rank
from interplay.partners.panel import Panel
from interplay.partners.panel_file import PANEL, read_panel
from interplay.partners.panels import DEFAULT, shipped
from interplay.partners.select import by_size
from interplay.table import Row, Table

SIDES = {"br": "Best responses", "p": "Partners"}


def find(name: str) -> Panel:
    """The panel of a folder, or the one that is shipped for a game, as in overcooked/counter_circuit."""
    if (Path(name) / PANEL).is_file() or name.endswith(PANEL):
        return read_panel(name)
    game, _, chosen = name.partition(":")
    known = shipped(game)
    if (chosen or DEFAULT) not in known:
        raise InterplayError(
            f"{name!r} is neither a folder with a {PANEL} nor a game with a shipped panel; `interplay list panels`"
        )
    return read_panel(known[chosen or DEFAULT])


def members_table(panel: Panel) -> Table:
    """A row per partner and seat of its best response."""
    from interplay.partners.describe import descriptions

    rows: list[Row] = []
    prefers = descriptions(panel)
    for member in panel.members:
        own = member.self_play
        about = {
            "partner": member.agent.name,
            "kind": member.kind,
            "skill": member.skill,
            "prefers": prefers[member.agent.name],
            "weights": _preference(member.notes.get("preference")),
            "self_play": own.mean if own else None,
            "self_play_low": own.low if own else None,
            "self_play_high": own.high if own else None,
        }
        for response in member.responses:
            worth = response.worth
            rows.append(
                about
                | {
                    "seat": response.seat,
                    "worth": worth.mean,
                    "worth_low": worth.low,
                    "worth_high": worth.high,
                    "episodes": worth.episodes,
                    "best_response": response.agent.name,
                    "how": response.how,
                    "hash": member.agent.config.get("sha256"),
                }
            )
        if not member.responses:
            rows.append(about)
    return Table.of(rows, f"Panel {panel.name}")


def behaviour_json(br: BehaviourFeatures, own: BehaviourFeatures) -> dict:
    """Features for a panel's file: rounded, all candidates."""
    sides = {"br": br, "p": own}
    return {
        "features": list(br.names),
        "candidates": list(br.ids),
        "returns": [round(float(v), 3) for v in br.returns],
        **{side: [[round(float(v), 3) for v in row] for row in f.values] for side, f in sides.items()},
    }


def behaviour(panel: Panel) -> dict[str, BehaviourFeatures]:
    """The features of the best responses and of the candidates themselves, by side; empty for a panel without."""
    stored = panel.provenance.get("behaviour")
    if not stored:
        return {}
    ids, names, returns = tuple(stored["candidates"]), tuple(stored["features"]), np.array(stored["returns"], float)
    return {side: BehaviourFeatures(ids, names, returns, np.array(stored[side], float)) for side in SIDES}


def diversity_table(panel: Panel, seed: int = 0) -> Table | None:
    """BR-Div and P-Div by size, up to the size of the panel's selection."""
    sides = behaviour(panel)
    if not sides:
        return None
    candidates = able(sides["br"], panel.provenance["config"]["least_return"])
    most = min(rank(candidates.normalised()), panel.provenance["config"]["k"])
    return by_size(candidates, range(1, most + 1), sides["p"].of(candidates.ids), seed=seed)


def _preference(weights: dict | None) -> str | None:
    return None if weights is None else json.dumps(weights).strip("{}").replace('"', "")
