"""Experiment logs of Collab-Overcooked as transcripts: those of the benchmark and of its forks.

A log is one JSON object an episode: `total_action_list` (what each cook carried out, with time steps) and `content`, a
record a step with what was said, planned and refused. The fork with several models adds `agent_models` to each step;
another writes `action` where the benchmark writes `plan`, and `Collab(request(Assistant, ...))` where it writes text.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.games.collab_kitchen.dishes import INGREDIENTS, Dish, dish_of, raw
from interplay.games.collab_kitchen.layouts import ORIGINAL, PLACES, KitchenLayout, parse
from interplay.games.collab_kitchen.roles import able_roles, split_roles
from interplay.metrics.communication.foreign import parse_transcripts
from interplay.metrics.communication.kitchen_words import MAKES, Vocabulary, parse_act
from interplay.metrics.communication.records import EXEC, MESSAGE, PLAN, VERDICT, ObservedAct, Transcript
from interplay.metrics.communication.records import TranscriptEvent as Event
from interplay.metrics.communication.scene import AT, KitchenScene
from interplay.metrics.communication.tasks import task_of
from interplay.untrusted_files import read_json

KEYS = {"total_action_list", "content"}
ROLES = ("chef", "assistant")
CELL = 8  # characters of a cell in a log's map
UTENSILS = ("pot", "oven", "blender", "chopping_board")
VERDICT_SEQ, EXEC_SEQ = 500, 1000  # within a step: talk, then verdicts, then what was carried out
HORIZON = 120  # the benchmark's own, where the log does not tell


def is_experiment_log(path: Path) -> bool:
    """Return whether a path is an experiment log, or a folder that holds some and no trace set."""
    if path.is_dir():
        return not (path / "manifest.json").exists() and next(_files(path), None) is not None
    if path.suffix != ".json" or not path.is_file():
        return False
    if path.name.startswith("experiment_"):  # as both repositories call them, whatever the order of their keys
        return True
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"total_timestamp"' in file.read(200)


def read_experiment_logs(path: str | os.PathLike[str], horizon: int = HORIZON) -> list[Transcript]:
    """Read an experiment log, or all of a folder and the folders within, in the order of their names.

    Args:
        path: A file, or a folder.
        horizon: Steps that an episode may have; logs do not tell it. Windows are a share of it.

    Raises:
        InterplayError: A file has another form, or cooks none of the thirty dishes.
    """
    root = Path(path)
    files = [root] if root.is_file() else sorted(_files(root))
    texts = (json.dumps(record) for file in files for record in _records(file, root, horizon))
    return parse_transcripts(texts, root.name)


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*.json") if is_experiment_log(file))


def _records(file: Path, root: Path, horizon: int) -> Iterator[dict[str, Any]]:
    """The header and the events of a log, in the form of JSON lines from elsewhere."""
    log = read_json(file)
    if not isinstance(log, dict) or not log.keys() >= KEYS or not isinstance(log["content"], list):
        raise InterplayError(f"{file}: no experiment log; it has no {' and '.join(sorted(KEYS))}")
    steps = [step for step in log["content"] if isinstance(step, dict)]
    ordered = next(iter(log.get("total_order_finished") or ()), None) or next(
        (o for step in steps for o in step.get("order_list") or ()), ""
    )
    cooked, layout = dish_of_order(str(ordered), file), _layout(steps)
    roles = _roles(layout, _models(steps, file))
    words = Vocabulary.of(task_of(cooked, ()).objects, cooked.food)
    episode = str(file.relative_to(root).with_suffix("")) if file != root else file.stem
    yield {
        "kind": "episode",
        "episode": episode,
        "game": "collab_overcooked",
        "dish": cooked.name,
        "success": bool(log.get("total_order_finished")),
        "length": len(log.get("total_timestamp") or steps),
        "horizon": horizon,
        "roles": roles,
    }
    for event in (*_talk(steps, words), *_executions(log["total_action_list"], words)):
        yield {"episode": episode, **event}


def dish_of_order(order: str, where: object = "order") -> Dish:
    """Return the dish of an order's name, such as boiled_egg or baked_potato_soup.

    Raises:
        InterplayError: None of the thirty dishes has this name.
    """
    dishes = (dish_of(level, number) for level in range(1, 7) for number in range(1, 6))
    for wanted in dishes:
        if _signature(order, _named(order)) == _signature(wanted.name, frozenset(raw(wanted.food))):
            return wanted
    raise InterplayError(f"{where}: the order {order!r} is none of the kitchen's dishes")


def _signature(name: str, ingredients: frozenset[str]) -> tuple[str, frozenset[str]]:
    kind = next((k for k in ("soup", "stew", "patty") if k in name), None)
    return kind or f"{name[:5]}{'~' if 'slices' in name else ''}", ingredients


def _named(order: str) -> frozenset[str]:
    found, left = set(), order
    for name in sorted(INGREDIENTS, key=len, reverse=True):
        if re.search(rf"(?<![a-z]){name}(?![a-z])", left):
            found.add(name)
            left = left.replace(name, " ")
    return frozenset(found)


def _layout(steps: Sequence[Mapping[str, Any]]) -> KitchenLayout:
    """The kitchen as the first step draws it: cells of eight characters, cooks as an arrow and a number."""
    drawn = next((str(step["map"]) for step in steps if step.get("map")), "")
    rows = [[line[at : at + CELL].strip() for at in range(0, len(line), CELL)] for line in drawn.splitlines() if line]
    rows = [row[: len(rows[0]) - 1] if row and row[-1] == "" else row for row in rows]
    if len({len(row) for row in rows}) != 1:
        return parse(ORIGINAL)
    cells = [["".join(_letter(cell)) for cell in row] for row in rows]
    try:
        return parse("/".join("".join(row) for row in cells))
    except InterplayError:
        return parse(ORIGINAL)


def _letter(cell: str) -> str:
    if not cell:
        return " "
    cook = re.search(r"\d", cell)  # an arrow and the cook's number, from 0 on
    return str(int(cook[0]) + 1) if cook else cell[0]


def _models(steps: Sequence[Mapping[str, Any]], file: Path) -> tuple[str, str]:
    """Who cooked: as the steps tell, else as the folder is called (`model` or `chef__assistant`)."""
    told = next((step["agent_models"] for step in steps if step.get("agent_models")), None)
    if told and len(told) == 2:
        names = [_scaffolded(str(one.get("model")), str(one.get("agent_type") or "baseline")) for one in told]
        return names[0], names[1]
    chef, _, assistant = file.parent.parent.name.partition("__")
    chef = chef.removeprefix("baseline_") or "unknown"
    return chef, assistant.removeprefix("baseline_") or chef


def _scaffolded(model: str, kind: str) -> str:
    return model if kind == "baseline" else f"{kind}_{model}"


def _roles(layout: KitchenLayout, models: Sequence[str]) -> list[dict[str, Any]]:
    seats = range(len(layout.starts))
    everywhere = all(layout.reaches(seat, s) for seat in seats for s in layout.stations if s.letter != "X")
    return [
        {
            "name": name,
            "agent": model,
            "verbs": list(role.verbs),
            "places": sorted({PLACES[s.letter] for s in layout.stations if layout.reaches(seat, s)}),
            "knows_recipe": role.knows_recipe,
        }
        for seat, (name, model, role) in enumerate(
            zip(ROLES, models, (able_roles if everywhere else split_roles)(len(ROLES)), strict=True)
        )
    ]


# ---------------------------------------------------------------- what was said, planned and refused
def _talk(steps: Sequence[Mapping[str, Any]], words: Vocabulary) -> Iterator[dict[str, Any]]:
    for step in steps:
        t, seq = int(step.get("timestamp") or 0), 0
        statistics = step.get("statistical_data") or {}
        tokens = _tokens(statistics)
        last: dict[int, list[ObservedAct]] = {}
        for entry in _entries(step):
            seat = int(entry["agent"])
            say, plan = str(entry.get("say") or ""), str(entry.get("plan") or entry.get("action") or "")
            asked, planned = _requests(f"{say}\n{plan}", words), _acts(plan, words)
            if planned:
                last[seat] = planned
                yield {"t": t, "seq": seq, "agent": seat, "kind": PLAN, "acts": [_plain(a) for a in planned]}
                seq += 1
            formal = say.strip().startswith("Collab(")
            text = re.sub(r"\[(END|NOTHING)\]", "", say).strip()
            if text or asked:
                yield {
                    "t": t, "seq": seq, "agent": seat, "kind": MESSAGE, "text": text, "acts_only": formal,
                    "acts": [_plain(act) for act in asked], "tokens": tokens.pop(say, None),
                }  # fmt: skip
                seq += 1
        for seat in range(len(ROLES)):
            for number in range(_refusals(statistics, seat)):
                act = _refused(step, seat, words) or next(iter(last.get(seat, ())), ObservedAct("wait"))
                yield {
                    "t": t, "seq": VERDICT_SEQ + 100 * seat + number, "agent": seat, "kind": VERDICT, "ok": False,
                    "error": "validator", **_plain(act),
                }  # fmt: skip


def _entries(step: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What cooks answered in a step, in order: a list for each cook that opened a dialogue."""
    inner = step.get("content") or {}
    for dialogue in inner.get("content") or () if isinstance(inner, dict) else ():
        for entry in dialogue if isinstance(dialogue, list) else ():
            if isinstance(entry, dict) and entry.get("agent") in (0, 1):
                yield entry


def _tokens(statistics: Mapping[str, Any]) -> dict[str, int]:
    """Tokens of the answers of a step, by what was said."""
    found = {}
    for dialogue in statistics.get("communication") or ():
        found |= dict(zip(dialogue.get("turn") or (), dialogue.get("token") or (), strict=False))
    return {said: int(count) for said, count in found.items() if isinstance(count, int)}


def _refusals(statistics: Mapping[str, Any], seat: int) -> int:
    errors = statistics.get("error") or ()
    return int(((errors[seat] or {}).get("validator_error") or {}).get("error_num") or 0) if seat < len(errors) else 0


def _refused(step: Mapping[str, Any], seat: int, words: Vocabulary) -> ObservedAct | None:
    """The act that the validator refused, which only the next prompt's text names."""
    seen = (step.get("content") or {}).get("observation") or ()
    named = re.findall(r"Your action (\w+\([^)]*\)) raised an error", str(seen[seat])) if seat < len(seen) else []
    return parse_act(named[-1], words) if named else None


def _requests(text: str, words: Vocabulary) -> list[ObservedAct]:
    """The acts of request('...') and request(Assistant, ...)."""
    found = []
    for start in re.finditer(r"\brequest\s*\(", text):
        inside = _balanced(text, start.end())
        inside = re.sub(r"^\s*(?:chef|assistant)\s*,", "", inside, flags=re.IGNORECASE).strip().strip("'\"")
        found += _acts(inside, words)
    return list(dict.fromkeys(found))


def _balanced(text: str, at: int) -> str:
    depth = 1
    for end in range(at, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[at:end]
    return text[at:]


def _acts(text: str, words: Vocabulary) -> list[ObservedAct]:
    """The acts of a plan, requests left out."""
    own = re.sub(r"^\s*[\w ]*:", "", text)
    found, at = [], 0
    for call in re.finditer(r"\b([a-z_]+)\s*\(", own):
        if call.start() < at:
            continue  # within the brackets of the one before
        inside = _balanced(own, call.end())
        at = call.end() + len(inside)
        act = parse_act(f"{call[1]}({inside})", words) if call[1] != "request" else None
        if act is not None:
            found.append(act)
    return found


# ---------------------------------------------------------------- what was carried out
def _executions(lists: Sequence[Sequence[Mapping[str, Any]]], words: Vocabulary) -> Iterator[dict[str, Any]]:
    """Logs leave out what is in the hand or in the utensil: it is followed from the pick-ups on."""
    told = [(int(e["timestamp"]), seat, str(e["action"])) for seat, acts in enumerate(lists) for e in acts or ()]
    scene = KitchenScene()
    for number, (t, seat, text) in enumerate(sorted(told, key=lambda one: one[0])):
        act = parse_act(text, words)
        if act is None or act.verb == "wait":
            continue
        act = ObservedAct(act.verb, _thing(act, seat, scene), act.place)
        event = Event(t=t, seq=EXEC_SEQ + number, agent=seat, kind=EXEC, act=act)
        scene = scene.after(event)
        yield {"t": t, "seq": event.seq, "agent": seat, "kind": EXEC, **_plain(act)}


def _thing(act: ObservedAct, seat: int, scene: KitchenScene) -> str:
    """What an act was about."""
    place, hand = act.place or AT.get(act.verb) or "", scene.hands.get(seat)
    inside = scene.contents(place)
    if act.verb in ("put_obj_in_utensil", "place_obj_on_counter", "deliver"):
        return hand.object if hand else act.object or "unknown"
    if act.verb in MAKES or act.verb == "fill_dish_with_food" or (act.verb == "pickup" and place in UTENSILS):
        return inside.object if inside else act.object or "unknown"
    return act.object or "unknown"


def _plain(act: ObservedAct) -> dict[str, Any]:
    return {"verb": act.verb, "object": act.object, "place": act.place}
