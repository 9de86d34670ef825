"""What can be done with the kitchens of teams that talk."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="kitchen",
    build="interplay.games.kitchen.game:make",
    options="interplay.games.kitchen.game:KitchenOptions",
    variants="interplay.games.kitchen.game:variants",
    symbolic_domain="interplay.games.kitchen.domain:Reader",
    solver="interplay.games.kitchen.solve:Solver",
    llm_dialogue="interplay.agents.llm.kitchen.session:KitchenSession",
    partners=("llm:scripted/reference", "llm:scripted/deaf", "stay", "random"),
    browser_view="interplay.study.views:KITCHEN",
)
