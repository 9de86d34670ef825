"""What a browser is shown of a game: the view of one seat, as plain JSON."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.games.api import Game
from interplay.games.hanabi import state as cards
from interplay.games.overcooked import state as chefs
from interplay.games.registry import capability
from interplay.games.rescue import state as rescuers
from interplay.rollout.live import LiveTable
from interplay.study.live import kitchen_view

FACING = ("north", "south", "east", "west")
RESCUE_FACING = ("up", "down", "left", "right")
RESCUE_TERRAIN = {rescuers.FLOOR: ".", rescuers.WALL: "#", rescuers.DOOR: "+", rescuers.DANGER: "!"}
THINGS = {chefs.OvercookedItem.ONION: "onion", chefs.OvercookedItem.TOMATO: "tomato", chefs.OvercookedItem.DISH: "dish"}


class BrowserView(NamedTuple):
    """How a game is shown and played in the browser: the front end's board, and functions that describe the state."""

    board: str  # of the front end: overcooked, rescue, hanabi, kitchen or scene, or one that `script` exports
    real_time: bool  # steps when its tick is due; otherwise when those who are to move have moved
    layout: Callable[[Any, Any], Any]  # (game, state) -> what stays the same
    view: Callable[[Any, LiveTable, int], dict[str, Any]]  # (game, table, seat) -> what one seat sees now
    watch: Callable[[Any], Callable[[LiveTable, Any, Any, np.ndarray], None] | None]  # game -> called after every step
    macro_actions: bool = False  # people choose macro actions, which take several steps
    # (game, seat, text) -> the payload of the message event; None: there is no chat
    message: Callable[[Any, int, str], Mapping[str, Any]] | None = None
    script: str | None = None  # `package:file.js`, an ES module that exports `boards`; None: the board is in our bundle
    # `module:function` of (game, seat, chance) -> a simulated participant; None: one who presses random buttons
    simulate: str | None = None


def browser_view(game: Game) -> BrowserView:
    """Return how a game is shown: as its family declares, or drawn by its `scene` with its actions as buttons."""
    return capability(game, "browser_view") or SCENE


def _no_watch(game: Any) -> None:
    return None


# Overcooked.


def _overcooked_layout(game: Any, state: Any) -> dict[str, Any]:
    layout = game.layout
    return {"width": layout.width, "height": layout.height, "terrain": list(layout.rows)}


def _item(item: int) -> tuple[str | None, str | None]:
    if item == chefs.OvercookedItem.NOTHING:
        return None, None
    if chefs.is_soup(item):
        return "soup", f"{chefs.onions_in(item)},{chefs.tomatoes_in(item)}"
    return THINGS[chefs.OvercookedItem(item)], None


@functools.cache
def _pots(rows: tuple[str, ...]) -> tuple[tuple[int, int, int], ...]:
    """Return the cell, column and row of each pot of a kitchen."""
    places = ((x, y) for x in range(len(rows[0])) for y in range(len(rows)) if rows[y][x] == "P")
    return tuple((x * len(rows) + y, x, y) for x, y in places)


def _overcooked(game: Any, table: LiveTable, seat: int) -> dict[str, Any]:
    state, height = table.state, game.layout.height
    stocked = {cell: item for cell, item in enumerate(state.items.tolist()) if item}
    items, pots = [], []
    for cell, x, y in _pots(game.layout.rows):
        item = stocked.pop(cell, chefs.OvercookedItem.NOTHING)
        full = chefs.is_soup(item)
        onions, tomatoes = (chefs.onions_in(item), chefs.tomatoes_in(item)) if full else (0, 0)
        timer = int(state.timer[cell])
        pots.append({"x": x, "y": y, "onions": onions, "tomatoes": tomatoes, "timer": timer})
    for cell, item in stocked.items():
        x, y = divmod(cell, height)
        kind, detail = _item(item)
        items.append({"x": x, "y": y, "kind": kind, "detail": detail})
    people = []
    for who, cell in enumerate(state.cell.tolist()):
        x, y = divmod(cell, height)
        item, detail = _item(int(state.held[who]))
        look = {"facing": FACING[int(state.facing[who])], "held": item, "detail": detail}
        people.append({"x": x, "y": y, **look, "seat": who})
    return {**_overcooked_layout(game, state), "chefs": people, "items": items, "pots": pots}


# Search and rescue.


def _rescue_layout(game: Any, state: Any) -> dict[str, Any]:
    width, height = game.rules.width, game.rules.height
    grid = [RESCUE_TERRAIN.get(int(kind), ".") for kind in state.terrain]
    rows = ["".join(grid[x * height + y] for x in range(width)) for y in range(height)]
    return {"width": width, "height": height, "terrain": rows}


def _sees(rules: Any, state: Any, seat: int) -> np.ndarray:
    """Return the cells that a seat sees: its room and what is next to it; `encodings.sight` without compiled code."""
    room, cell = np.asarray(rules.room), int(state.cell[seat])
    sees = (room >= 0) & (room == room[cell])
    sees[np.asarray(rules.front).reshape(-1, 4)[cell]] = True
    sees[cell] = True
    return sees


def _rescue(game: Any, table: LiveTable, seat: int) -> dict[str, Any]:
    state, rules = table.state, game.rules
    height = rules.height
    sees = _sees(rules, state, seat)

    def at(cell: int) -> dict[str, int]:
        x, y = divmod(int(cell), height)
        return {"x": x, "y": y}

    items: list[dict[str, Any]] = [
        {**at(c), "kind": "debris", "detail": None} for c in np.flatnonzero(state.debris).tolist()
    ]
    items += [{**at(c), "kind": "fire", "detail": None} for c in np.flatnonzero(state.burning).tolist()]
    for tool, cell in enumerate(state.tool_cell.tolist()):
        if cell >= 0:
            items.append({**at(cell), "kind": rescuers.TOOLS[rules.tool_kinds[tool]], "detail": None})
    for number, cell in enumerate(state.victim_cell.tolist()):
        if state.known[number] or sees[cell]:
            items.append({**at(cell), "kind": "victim", "detail": _victim(state, number)})
    guarded = set(state.guarding.tolist())
    people = []
    for who, cell in enumerate(state.cell.tolist()):
        tool_index = int(state.held[who])
        tool = rescuers.TOOLS[rules.tool_kinds[tool_index]] if tool_index >= 0 else None
        role = rescuers.ROLES[rules.roles[who]]
        person = {"facing": RESCUE_FACING[int(state.facing[who])], "held": tool, "seat": who, "role": role}
        people.append({**at(cell), **person, "guarded": who in guarded or role == "police"})
    dark = [[*divmod(int(c), height)] for c in np.flatnonzero(~sees & (state.terrain != rescuers.WALL))]
    return {**_rescue_layout(game, state), "chefs": people, "items": items, "pots": [], "unseen": dark}


def _victim(state: Any, number: int) -> str:
    if state.treated_by[number] >= 0:
        return "treated"
    share = round(100 * int(state.work[number]) / rescuers.WORK)
    return f"{share} %" if state.known[number] else "seen"


# Hanabi.


class ViewMemory(NamedTuple):
    """What players remember of a game of Hanabi: the moves so far, and the deal numbers of the cards in each hand."""

    history: list[dict[str, Any]]
    ids: list[list[int]]  # by seat and slot


def _watch_hanabi(game: Any) -> Callable[[LiveTable, Any, Any, np.ndarray], None]:
    rules = game.rules

    def watch(table: LiveTable, before: Any, after: Any, joint: np.ndarray) -> None:
        memory = _memory(game, table)
        t = int(before.time)
        seat = t % rules.players
        action = int(joint[seat])
        kind, slot = int(rules.moves.kind[action]), int(rules.moves.slot[action])
        move: dict[str, Any] = {"t": t, "seat": seat, "kind": cards.KIND_NAMES[kind], "text": game.action_names[action]}
        if kind in (cards.PLAY, cards.DISCARD):
            move["card"] = _face(rules, int(after.last.card))
            if kind == cards.PLAY:
                move["fits"] = bool(after.last.scored)
            memory.ids[seat].pop(slot)
            if int(after.dealt) > int(before.dealt):
                memory.ids[seat].append(int(before.dealt))
        else:
            move["target"] = (seat + int(rules.moves.offset[action])) % rules.players
            move["value"] = _hint(rules, action)
            move["cards"] = [at + 1 for at in np.flatnonzero(after.last.touched).tolist()]
        memory.history.append(move)

    return watch


def _memory(game: Any, table: LiveTable) -> ViewMemory:
    if table.notes is None:
        size = game.rules.hand_size
        table.notes = ViewMemory([], [[seat * size + slot for slot in range(size)] for seat in range(game.num_seats)])
    return table.notes


def _hint(rules: cards.HanabiRules, action: int) -> str | int:
    """Return the colour or the rank that a hint names."""
    hint = int(rules.moves.hint[action])
    colours = len(rules.colours)
    return rules.colours[hint] if hint < colours else hint - colours + 1


def _hanabi_layout(game: Any, state: Any) -> dict[str, Any]:
    rules = game.rules
    return {"suits": list(rules.suits), "ranks": rules.ranks, "hand_size": rules.hand_size, "seats": rules.players}


def _hanabi(game: Any, table: LiveTable, seat: int) -> dict[str, Any]:
    state, rules = table.state, game.rules
    memory = _memory(game, table)
    hands = []
    for who, hand in enumerate(state.hands.tolist()):
        cards_shown = []
        for slot, card in enumerate(hand):
            if card == cards.NO_CARD:
                continue
            possible = [i for i in range(rules.identities) if int(state.possible[who][slot]) >> i & 1]
            face = {"colour": None, "rank": None} if who == seat else _face(rules, card)
            cards_shown.append({"id": memory.ids[who][slot], **face, **_open(rules, possible)})
        hands.append(cards_shown)
    fireworks = {suit: int(height) for suit, height in zip(rules.suits, state.fireworks, strict=True)}
    gone = [_face(rules, i) for i, copies in enumerate(state.discards.tolist()) for _ in range(copies)]
    return {
        "hands": hands,
        "fireworks": fireworks,
        "tokens": int(state.tokens),
        "lives": int(state.lives),
        "deck": rules.deck_size - int(state.dealt),
        "discards": gone,
        "legal": _moves(game, table, seat),
        "history": list(memory.history),
        "your_turn": bool(table.turn[seat]) and not table.done,
    }


def _face(rules: cards.HanabiRules, card: int) -> dict[str, Any]:
    return {"colour": rules.suits[card // rules.ranks], "rank": card % rules.ranks + 1}


def _open(rules: cards.HanabiRules, possible: list[int]) -> dict[str, Any]:
    """Return the colours and ranks that hints leave possible for a card."""
    colours = sorted({i // rules.ranks for i in possible})
    ranks = sorted({i % rules.ranks + 1 for i in possible})
    return {"colours": [rules.suits[c] for c in colours], "ranks": ranks}


def _moves(game: Any, table: LiveTable, seat: int) -> list[dict[str, Any]]:
    rules, moves = game.rules, []
    if not table.turn[seat] or table.done:
        return []
    for action in np.flatnonzero(table.legal[seat]).tolist():
        kind, slot = int(rules.moves.kind[action]), int(rules.moves.slot[action])
        name = game.action_names[action]
        if kind in (cards.PLAY, cards.DISCARD):
            label = f"{'Play' if kind == cards.PLAY else 'Discard'} card {slot + 1}"
            move = {"label": label, "target": seat, "value": slot}
        elif kind != cards.NOOP:
            hint = _hint(rules, action)
            target = (seat + int(rules.moves.offset[action])) % rules.players
            move = {"label": f"Hint {hint}", "target": target, "value": hint}
        else:
            continue
        moves.append({"action": name, "kind": cards.KIND_NAMES[kind], **move})
    return moves


# Any other game: its picture and its actions.


def _scene(game: Any, table: LiveTable, seat: int) -> dict[str, Any]:
    legal = table.legal[seat] if table.turn[seat] and not table.done else np.zeros(len(game.action_names), bool)
    names = [name for name, ok in zip(game.action_names, legal, strict=True) if ok]
    return {
        "svg": game.scene(table.state, seat).svg(),
        "text": game.render(table.state, seat),
        "role": game.seat_names[seat],
        "legal": [{"action": name, "label": name.replace("_", " ")} for name in names],
        "steps_left": game.horizon - table.t,
        "your_turn": bool(names),
    }


def _scene_layout(game: Any, state: Any) -> dict[str, Any]:
    return {"seats": list(game.seat_names), "steps": game.horizon}


_SIMULATED = "interplay.study.simulation.participants"
OVERCOOKED = BrowserView(
    "overcooked", True, _overcooked_layout, _overcooked, _no_watch, simulate=f"{_SIMULATED}:simulated_chef"
)
RESCUE = BrowserView("rescue", True, _rescue_layout, _rescue, _no_watch, simulate=f"{_SIMULATED}:simulated_rescuer")
HANABI = BrowserView(
    "hanabi", False, _hanabi_layout, _hanabi, _watch_hanabi, simulate=f"{_SIMULATED}:simulated_card_player"
)
KITCHEN = BrowserView(
    "kitchen",
    False,
    kitchen_view.layout,
    kitchen_view.view,
    kitchen_view.watch,
    macro_actions=True,
    message=kitchen_view.message,
    simulate=f"{_SIMULATED}:simulated_cook",
)
SCENE = BrowserView("scene", False, _scene_layout, _scene, _no_watch)
