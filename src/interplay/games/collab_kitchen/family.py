"""The family of kitchens for teams that talk."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="kitchen",
    build="interplay.games.collab_kitchen.game:make",
    options="interplay.games.collab_kitchen.game:KitchenOptions",
    variants="interplay.games.collab_kitchen.game:variants",
    symbolic_domain="interplay.games.collab_kitchen.symbolic_domain:KitchenReader",
    solver="interplay.games.collab_kitchen.solve:KitchenSolver",
    llm_dialogue="interplay.agents.llm.kitchen.session:KitchenSession",
    request_reader="interplay.metrics.communication.live:read_requests",
    partners=("llm:scripted/reference", "llm:scripted/deaf", "stay", "random"),
    browser_view="interplay.study.live.browser_views:KITCHEN",
)
