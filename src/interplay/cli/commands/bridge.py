"""`interplay bridge hanab-live`: an agent plays where people play."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass

from interplay.cli.show import JsonOption, note, show
from interplay.errors import InterplayError
from interplay.table import Table


@dataclass(frozen=True, kw_only=True)
class HanabLive(JsonOption):
    """Play Hanabi with people on hanab.live: log in as a bot, and sit down where somebody sends `/join`.

    The password is read from the environment variable HANAB_LIVE_PASSWORD. Ask the site's people before you bring one.

    Examples:
      HANAB_LIVE_PASSWORD=... interplay bridge hanab-live --username Bot-Proxy --agent greedy:trained/hanabi/2p/proxy-1
    """

    agent: str
    """Who plays."""
    username: str
    """The bot's name there; by custom it begins with Bot-."""
    url: str = "https://hanab.live"
    """The site."""
    games: int | None = None
    """Stop after so many games; by default never."""
    seed: int = 0
    """Of the agent's chances."""

    def run(self) -> None:
        """Play until interrupted, or until so many games are finished."""
        import interplay
        from interplay.bridges.hanab_live import serve_bot

        password = os.environ.get("HANAB_LIVE_PASSWORD")
        if not password:
            raise InterplayError("set the environment variable HANAB_LIVE_PASSWORD to the bot's password")
        agent = interplay.agent(self.agent)
        played = asyncio.run(
            serve_bot(
                self.url, self.username, password, agent, games=self.games, seed=self.seed,
                tell=lambda game: note(f"{', '.join(game['players'])}: {game['score']} points"),
            )
        )  # fmt: skip
        show(Table.of(played, "Games"), json=self.json)
