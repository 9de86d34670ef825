"""The family of Hanabi games."""

from interplay.games.family import GameFamily

FAMILY = GameFamily(
    name="hanabi",
    build="interplay.games.hanabi.game:make",
    options="interplay.games.hanabi.game:HanabiOptions",
    variants="interplay.games.hanabi.game:variants",
    llm_session="interplay.agents.llm.hanabi.session:HanabiSession",
    partners=(
        "hanabi/smart",
        "hanabi/holmes",
        "hanabi/value",
        "hanabi/simple",
        "hanabi/iggi",
        "hanabi/piers",
        "hanabi/outer",
        "random",
    ),
    score_options=("bomb",),
    score_rule="interplay.games.hanabi.game:score_rule",
    browser_view="interplay.study.live.browser_views:HANABI",
)
