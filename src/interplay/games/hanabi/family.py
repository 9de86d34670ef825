"""What can be done with games of Hanabi."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="hanabi",
    build="interplay.games.hanabi.game:make",
    options="interplay.games.hanabi.game:HanabiOptions",
    variants="interplay.games.hanabi.game:variants",
)
