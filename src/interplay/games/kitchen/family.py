"""What can be done with the kitchens of teams that talk."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="kitchen",
    build="interplay.games.kitchen.game:make",
    options="interplay.games.kitchen.game:KitchenOptions",
    variants="interplay.games.kitchen.game:variants",
)
