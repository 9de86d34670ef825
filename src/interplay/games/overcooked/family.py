"""What can be done with the kitchens of Overcooked."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="overcooked",
    build="interplay.games.overcooked.game:make",
    options="interplay.games.overcooked.game:OvercookedOptions",
    variants="interplay.games.overcooked.game:variants",
)
