"""The family of search-and-rescue houses."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="rescue",
    build="interplay.games.rescue.game:make",
    options="interplay.games.rescue.game:RescueOptions",
    variants="interplay.games.rescue.game:variants",
    symbolic_domain="interplay.games.rescue.domain:RescueReader",
    solver="interplay.games.rescue.solve:RescueSolver",
    partners=("rescue/helper", "rescue/loner", "stay", "random"),
    browser_view="interplay.study.live.browser_views:RESCUE",
)
