"""The family of Overcooked kitchens."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="overcooked",
    build="interplay.games.overcooked.game:make",
    options="interplay.games.overcooked.game:OvercookedOptions",
    variants="interplay.games.overcooked.game:variants",
    symbolic_domain="interplay.games.overcooked.symbolic_domain:OvercookedReader",
    solver="interplay.games.overcooked.solve:OvercookedSolver",
    planning_model="interplay.games.overcooked.pddl_model:OvercookedPlanningModel",
    remove_object="interplay.games.overcooked.interventions:remove_object",
    llm_session="interplay.agents.llm.overcooked.session:OvercookedSession",
    reward_space="interplay.games.overcooked.preferences:reward_space",
    # Partners that ask different things of an agent: some do one half of the work and wait for the other half, some
    # hand things over, some do it all, some only stand in the way.
    partners=(
        "overcooked/greedy",
        "overcooked/greedy+0.3",
        "overcooked/trial_partner",
        "overcooked/onion_passer",
        "overcooked/onion_receiver",
        "overcooked/onion_only",
        "overcooked/dish_only",
        "overcooked/place_and_deliver",
        "stay",
        "random",
    ),
    browser_view="interplay.study.live.browser_views:OVERCOOKED",
    replay_events=("delivery", "SOUP_PICKUP"),
)
