"""All that interplay can do with relays. What is left out has a generic form."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="relay",
    build="relay_game.game:make",
    options="relay_game.game:RelayOptions",
    variants="relay_game.game:variants",
    symbolic_domain="relay_game.domain:Reader",
    browser_view="relay_game.view:VIEW",
    replay_events=("deliver",),
)
