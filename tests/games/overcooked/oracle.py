"""Our states and overcooked-ai's, side by side."""

import contextlib
import io

import numpy as np

with contextlib.redirect_stderr(io.StringIO()):  # its gym prints a notice
    from overcooked_ai_py.mdp.overcooked_mdp import (
        ObjectState,
        OvercookedGridworld,
        PlayerState,
        SoupState,
    )
    from overcooked_ai_py.mdp.overcooked_mdp import (
        OvercookedState as TheirState,
    )

from interplay.games.overcooked.state import (
    COUNTER,
    IDLE,
    MOVES,
    POT,
    OvercookedItem,
    OvercookedState,
    is_soup,
    onions_in,
    soup,
    tomatoes_in,
)

THEIR_ACTIONS = [*MOVES[:5], "interact"]
INGREDIENTS = {"O": "onion", "T": "tomato"}


def their_game(game):
    """overcooked-ai's world of the same layout and menu. Its recipes are global to the class: see `use`."""
    menu = game.menu

    def orders(letters):
        return [{"ingredients": [INGREDIENTS[c] for c in order]} for order in letters]

    listed = {"recipe_values": menu.values, "recipe_times": menu.times, "cook_time": menu.cook_time}
    listed |= {"delivery_reward": menu.delivery_reward, "onion_value": menu.onion_value, "onion_time": menu.onion_time}
    listed |= {"tomato_value": menu.tomato_value, "tomato_time": menu.tomato_time}
    config = {k: v for k, v in listed.items() if v is not None}
    grid = [list(row) for row in game.layout.rows]
    for seat, (x, y) in enumerate(game.start(game.init(None))["positions"].tolist()):
        grid[y][x] = str(seat + 1)
    base = {"start_all_orders": orders(menu.orders), "start_bonus_orders": orders(menu.bonus_orders), **config}
    return OvercookedGridworld.from_grid(["".join(row) for row in grid], base)


def use(world):
    """Set overcooked-ai's class-global recipes to this world's."""
    from overcooked_ai_py.mdp.overcooked_mdp import Recipe

    Recipe.configure(world.recipe_config)


def random_state(game, rng) -> OvercookedState:
    """A state that random play would take long to reach: chefs, hands, counters and pots at random."""
    layout, terrain = game.layout, np.array(game.layout.terrain)
    cells = rng.choice(np.flatnonzero(terrain == 0), game.num_seats, replace=False)
    recipes = [(3, 0), (2, 1), (1, 2), (2, 0), (1, 1), (0, 3), (1, 0), (0, 1)]
    singles = [OvercookedItem.NOTHING, OvercookedItem.ONION, OvercookedItem.TOMATO, OvercookedItem.DISH]

    def anything():
        return rng.choice(singles) if rng.random() < 0.75 else soup(*recipes[rng.integers(len(recipes))])

    items, timer = np.zeros(layout.size, np.int8), np.full(layout.size, IDLE, np.int8)
    for cell in np.flatnonzero(terrain == COUNTER):
        items[cell] = anything() if rng.random() < rng.choice([0.05, 0.5]) else OvercookedItem.NOTHING
    for cell in np.flatnonzero(terrain == POT):
        if rng.random() < 0.8:
            recipe = recipes[rng.integers(len(recipes))]
            items[cell] = soup(*recipe)
            if rng.random() < 0.6:
                timer[cell] = max(0, rng.integers(-4, game.menu.time(recipe)))
    return OvercookedState(
        time=np.int32(rng.integers(0, game.horizon - 1)),
        cell=cells.astype(np.int32),
        facing=rng.integers(0, 4, game.num_seats).astype(np.int32),
        held=np.array([anything() for _ in range(game.num_seats)], np.int32),
        items=items,
        timer=timer,
    )


def to_theirs(game, state: OvercookedState) -> OvercookedState:
    def thing(item, place, timer=0):
        if not is_soup(item):
            return ObjectState(OvercookedItem(int(item)).name.lower(), place)
        made = SoupState.get_soup(place, num_onions=int(onions_in(item)), num_tomatoes=int(tomatoes_in(item)))
        if timer != IDLE:
            made._cooking_tick = made_time(game, item) - int(timer)
        return made

    players = []
    for cell, facing, held in zip(state.cell, state.facing, state.held, strict=True):
        place = game.layout.xy(int(cell))
        players.append(PlayerState(place, MOVES[facing], thing(held, place) if held else None))
    objects = {}
    for cell in np.flatnonzero(state.items):
        place = game.layout.xy(int(cell))
        timer = state.timer[cell] if game.layout.terrain[cell] == POT else 0
        objects[place] = thing(state.items[cell], place, timer)
    bonus = [{"ingredients": [INGREDIENTS[c] for c in order]} for order in game.menu.bonus_orders]
    every = [{"ingredients": [INGREDIENTS[c] for c in order]} for order in game.menu.orders]
    return TheirState(players, objects, bonus_orders=bonus, all_orders=every, timestep=int(state.time))


def made_time(game, item) -> int:
    return game.menu.time((int(onions_in(item)), int(tomatoes_in(item))))


def from_theirs(game, theirs) -> dict:
    """Their state in our numbers."""

    def code(thing):
        if thing.name == "soup":
            return soup(thing.ingredients.count("onion"), thing.ingredients.count("tomato"))
        return int(OvercookedItem[thing.name.upper()])

    items, timer = np.zeros(game.layout.size, int), np.full(game.layout.size, IDLE)
    for place, thing in theirs.objects.items():
        cell = game.layout.cell(*place)
        items[cell] = code(thing)
        if game.layout.terrain[cell] == POT and not thing.is_idle:
            timer[cell] = thing.cook_time_remaining
    return {
        "time": theirs.timestep,
        "cell": [game.layout.cell(*p.position) for p in theirs.players],
        "facing": [MOVES.index(p.orientation) for p in theirs.players],
        "held": [code(p.held_object) if p.held_object else 0 for p in theirs.players],
        "items": items,
        "timer": timer,
    }
