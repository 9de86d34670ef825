"""The family of search-and-rescue houses."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="rescue",
    build="interplay.games.rescue.game:make",
    options="interplay.games.rescue.game:RescueOptions",
    variants="interplay.games.rescue.game:variants",
    symbolic_domain="interplay.games.rescue.symbolic_domain:RescueReader",
    solver="interplay.games.rescue.solve:RescueSolver",
    planning_model="interplay.games.rescue.pddl_model:RescuePlanningModel",
    reward_space="interplay.games.rescue.preferences:reward_space",
    partners=("rescue/helper", "rescue/loner", "stay", "random"),
    browser_view="interplay.study.live.browser_views:RESCUE",
)
