"""The family of football games."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="football",
    build="interplay.games.football.game:make",
    options="interplay.games.football.game:FootballOptions",
    variants="interplay.games.football.game:variants",
    symbolic_domain="interplay.games.football.symbolic_domain:FootballReader",
    reward_space="interplay.games.football.preferences:reward_space",
    partners=("football/passer", "football/shooter", "football/positioner", "stay", "random"),
    replay_events=("goal", "pass", "catch"),
)
