"""Hand-made transcripts in a short hand, turned into JSON lines and read like any foreign transcript.

0 chef: Please cut the potato.                      a message
2 assistant plans pickup(potato); cut()              a plan
3 assistant fails cut chopping_board utensil_empty   the verifier refuses
5 assistant does cut potato chopping_board potato#1  an execution
"""

from __future__ import annotations

import json
from typing import Any

from interplay.metrics.communication import AuditSettings, Transcript, judge, parse_transcripts

CHEF = {
    "name": "chef",
    "agent": "model-a",
    "verbs": ["pickup", "place_obj_on_counter", "put_obj_in_utensil", "fill_dish_with_food", "cook", "bake", "deliver"],
    "places": ["pot", "oven", "serving_hatch", "counter"],
    "knows_recipe": True,
}
ASSISTANT = {
    "name": "assistant",
    "agent": "model-b",
    "verbs": ["pickup", "place_obj_on_counter", "put_obj_in_utensil", "fill_dish_with_food", "cut", "stir"],
    "places": ["ingredient_dispenser", "dish_dispenser", "chopping_board", "blender", "counter"],
    "knows_recipe": False,
}


def lines(script: str, **header: Any) -> list[str]:
    """The JSON lines of a script."""
    first = {"kind": "episode", "episode": "e", "dish": "boiled potato~slices", "roles": [CHEF, ASSISTANT]}
    found: list[dict[str, Any]] = [{**first, "horizon": 100, "length": 100, "success": False, **header}]
    for seq, line in enumerate(filter(None, map(str.strip, script.splitlines()))):
        t, _, rest = line.partition(" ")
        who, how, what = _parts(rest)
        event: dict[str, Any] = {"episode": first["episode"], "t": int(t), "seq": seq, "agent": who}
        found.append(event | how_told(how, what))
    return [json.dumps(record) for record in found]


def _parts(rest: str) -> tuple[str, str, str]:
    if ":" in rest and " " not in rest.partition(":")[0]:
        who, _, what = rest.partition(":")
        return who, "says", what.strip()
    who, how, *what = rest.split(" ", 2)
    return who, how, what[0] if what else ""


def how_told(how: str, what: str) -> dict[str, Any]:
    if how == "says":
        return {"kind": "message", "text": what, "tokens": len(what.split())}
    if how == "plans":
        return {"kind": "plan", "acts": [act.strip() for act in what.split(";")]}
    if how == "fails":
        verb, place, error = what.split()
        return {"kind": "verdict", "verb": verb, "place": place, "ok": False, "error": error}
    assert how == "does", how
    verb, thing, place, *lineage = what.split()
    return {"kind": "exec", "verb": verb, "object": thing, "place": place} | (
        {"lineage": lineage[0]} if lineage else {}
    )


def transcript(script: str, **header: Any) -> Transcript:
    return parse_transcripts(lines(script, **header))[0]


def outcomes(script: str, settings: AuditSettings | None = None, **header: Any) -> list[tuple[str, str, str]]:
    """(request, category, reason) of every judged message."""
    found = judge(transcript(script, **header), settings or AuditSettings(window=10))
    return [(str(j.unit.act) if j.unit else "", j.category, j.reason) for j in found]


def verdicts(script: str, settings: AuditSettings | None = None, **header: Any) -> list[str]:
    """category/reason of every judged message."""
    return [f"{category}/{reason}" for _, category, reason in outcomes(script, settings, **header)]
