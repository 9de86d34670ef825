"""A bot for hanab.live: people invite it by a private message, and an agent of ours plays at their table.

The site has no interface for bots: they log in and speak as its browser client does, a command, a space and JSON in
every frame. This follows what is known of it; `tests/bridges` plays against a stand-in, never against the site.
"""

from __future__ import annotations

import asyncio
import html
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from interplay.agents.api import Agent
from interplay.bridges.hanab_live_game import NORMAL, OutOfStepError, SiteGame, SitePlayer, refused_option
from interplay.errors import InterplayError

LOG = logging.getLogger("interplay.bridges")
HELP = "Commands: /join [password], /leave, /start, /help. I play No Variant with 2 to 5 players."
TRIES = 3  # how often a table's actions are asked for again before it is left


@dataclass
class SiteTable:
    """A table at which the bot sits while its game is played."""

    about: Mapping[str, Any]  # the site's `init`
    site: SiteGame
    player: SitePlayer
    complete: bool = False  # the whole list of actions was seen after the site counted us as present
    answered: int = -1  # the turn that was answered last
    failures: int = 0
    paused: bool = False


@dataclass
class HanabLiveBot:
    """The bot: takes frames, gives frames.

    Attributes:
        agent: Who plays.
        send: Sends one frame.
        pause_s: Seconds between two frames, as the site's own bots keep.
        think_s: Seconds before a move.
        seed: Of the agent's chances.
    """

    agent: Agent
    send: Callable[[str], Awaitable[None]]
    pause_s: float = 0.5
    think_s: float = 2.0
    seed: int = 0
    name: str = ""
    tables: dict[int, dict[str, Any]] = field(default_factory=dict)  # of the lobby
    games: dict[int, SiteTable] = field(default_factory=dict)
    finished: list[dict[str, Any]] = field(default_factory=list)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def say(self, command: str, **content: Any) -> None:
        """Send a command, no faster than the site allows."""
        async with self._lock:
            await self.send(f"{command} {json.dumps(content)}")
            await asyncio.sleep(self.pause_s)

    async def hear(self, frame: str) -> None:
        """Answer one frame of the site; what is not known is ignored.

        Raises:
            InterplayError: The site closes the connection with an error.
        """
        command, _, text = frame.partition(" ")
        snake_case = re.sub("[A-Z]", lambda letter: f"_{letter.group().lower()}", command)
        answer = getattr(self, f"_on_{snake_case}", None)
        if answer is None:
            return
        try:
            content = json.loads(text or "{}")
        except json.JSONDecodeError:
            LOG.warning("a frame that is no JSON: %.80s", frame)
            return
        await answer(content)

    # The lobby.

    async def _on_welcome(self, content: dict[str, Any]) -> None:
        self.name = content["username"]
        for table in content.get("playingAtTables") or ():
            await self.say("tableReattend", tableID=table)

    async def _on_error(self, content: dict[str, Any]) -> None:
        raise InterplayError(f"the site says: {str(content.get('error'))[:200]}")

    async def _on_table_list(self, content: list[dict[str, Any]]) -> None:
        self.tables = {table["id"]: table for table in content}

    async def _on_table(self, content: dict[str, Any]) -> None:
        self.tables[content["id"]] = content

    async def _on_table_gone(self, content: dict[str, Any]) -> None:
        self.tables.pop(content["tableID"], None)

    async def _on_left(self, content: dict[str, Any]) -> None:
        self.games.pop(content.get("TableID", content.get("tableID", -1)), None)

    _on_boot = _on_left

    async def _on_chat(self, content: dict[str, Any]) -> None:
        mine = content.get("recipient") == self.name and not content.get("room") and content.get("who") != self.name
        words = html.unescape(str(content.get("msg", ""))).split()
        if not mine or not words or not words[0].startswith("/"):
            return
        who, command = content["who"], words[0][1:]
        theirs = [t for t in self.tables.values() if who in t.get("players", ()) and not t.get("sharedReplay")]
        if command == "join":
            await self._join(who, theirs, words[1] if len(words) > 1 else None)
        elif command in ("leave", "start") and theirs:
            await self.say("tableLeave" if command == "leave" else "tableStart", tableID=theirs[0]["id"])
        else:
            await self.say("chatPM", msg=HELP, recipient=who)

    async def _join(self, who: str, tables: list[dict[str, Any]], password: str | None) -> None:
        waiting = [t for t in tables if not t.get("running")]
        if not waiting:
            await self.say("chatPM", msg="Open a table and sit down at it first.", recipient=who)
            return
        table = waiting[0]
        reason = refused_option(table.get("options") or {"variantName": table.get("variant", "No Variant")}, 2)
        if reason is not None:
            await self.say("chatPM", msg=f"I cannot play {reason}.", recipient=who)
            return
        secret = {"password": password} if password else {}
        await self.say("tableJoin", tableID=table["id"], **secret)

    # A game.

    async def _on_table_start(self, content: dict[str, Any]) -> None:
        if not content.get("replay"):
            await self.say("getGameInfo1", tableID=content["tableID"])

    async def _on_init(self, content: dict[str, Any]) -> None:
        number, players = content["tableID"], len(content["playerNames"])
        if content.get("spectating") or content.get("replay"):
            return
        reason = refused_option(content.get("options") or {}, players)
        if reason is not None:
            await self.say("chat", msg=f"I cannot play {reason}; sorry.", room=f"table{number}")
            await self.say("tableUnattend", tableID=number)
            return
        self.games[number] = self._new_table(content)
        await self.say("getGameInfo2", tableID=number)

    def _new_table(self, about: Mapping[str, Any]) -> SiteTable:
        site = SiteGame(len(about["playerNames"]), about["ourPlayerIndex"])
        return SiteTable(about, site, SitePlayer(self.agent, site, self.seed), paused=bool(about.get("paused")))

    async def _on_game_action_list(self, content: dict[str, Any]) -> None:
        number = content["tableID"]
        table = self.games.get(number)
        if table is None:
            return
        renewed = self._new_table(table.about)
        renewed.answered, renewed.failures, renewed.paused = table.answered, table.failures, table.paused
        self.games[number] = renewed
        for action in content["list"]:
            renewed.site.apply(action)
        if table.complete or table.answered >= 0:
            renewed.complete = True
            await self._act(number)
            return
        # Moves made before the site counts us as present are not sent: it is told first, then asked once more.
        await self.say("loaded", tableID=number)
        renewed.complete = True
        await self.say("getGameInfo2", tableID=number)

    async def _on_game_action(self, content: dict[str, Any]) -> None:
        number = content["tableID"]
        table = self.games.get(number)
        if table is None or not table.complete:
            return
        try:
            table.site.apply(content["action"])
        except OutOfStepError as error:
            await self._ask_again(number, str(error))
            return
        if content["action"].get("type") == "turn":
            await self._act(number)
        if table.site.ended is not None and content["action"].get("type") == "turn":
            await self._finish(number)

    async def _act(self, number: int) -> None:
        table = self.games[number]
        site, turn = table.site, len(table.site.moves)
        if site.ended is not None or site.current != site.seat or table.paused or table.answered == turn:
            return
        table.answered = turn
        choice = await asyncio.to_thread(table.player.choose, site)  # compiling takes longer than a ping may
        action = site.site_action(choice)
        await asyncio.sleep(self.think_s)
        await self.say("action", tableID=number, **action)

    async def _ask_again(self, number: int, why: str) -> None:
        table = self.games[number]
        table.failures += 1
        LOG.warning("table %s: %s", number, why)
        if table.failures > TRIES:
            await self.say("tableUnattend", tableID=number)
            del self.games[number]
        else:
            table.answered = min(table.answered, len(table.site.moves) - 1)
            await self.say("getGameInfo2", tableID=number)

    async def _on_warning(self, content: dict[str, Any]) -> None:
        LOG.warning("the site warns: %.200s", content.get("warning"))
        for number, table in list(self.games.items()):
            if table.answered == len(table.site.moves):  # our move may have been refused
                table.answered -= 1
                await self._ask_again(number, str(content.get("warning"))[:200])

    async def _on_pause(self, content: dict[str, Any]) -> None:
        for number in [content["tableID"]] if "tableID" in content else list(self.games):
            if number in self.games:
                self.games[number].paused = bool(content.get("active"))
                self.games[number].answered -= not content.get("active")
                await self._act(number)

    async def _finish(self, number: int) -> None:
        table = self.games.pop(number)
        score = table.site.score if table.site.ended == NORMAL else 0
        players = list(table.about["playerNames"])
        self.finished.append({"table": number, "players": players, "score": score, "end": table.site.ended})
        await self.say("tableUnattend", tableID=number)


def login(url: str, username: str, password: str) -> str:
    """Log in and return the session's cookie.

    Raises:
        InterplayError: The site refuses, or cannot be reached.
    """
    import httpx

    form = {"username": username, "password": password, "version": "bot"}
    try:
        answer = httpx.post(f"{url.rstrip('/')}/login", data=form, timeout=30)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise InterplayError(f"cannot reach {url}: {error}") from None
    cookie = answer.cookies.get("hanabi.sid")
    if answer.status_code != 200 or cookie is None:
        raise InterplayError(f"{url} refuses the login of {username}: {answer.text.strip()[:200]}")
    return cookie


async def serve_bot(
    url: str, username: str, password: str, agent: Agent, *, games: int | None = None, pause_s: float = 0.5,
    think_s: float = 2.0, seed: int = 0, tell: Callable[[dict[str, Any]], None] = lambda game: None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Log in and play whatever people invite the bot to, until so many games are finished.

    Args:
        url: The site, such as https://hanab.live.
        username: The bot's name there; the site's custom is the prefix `Bot-`.
        password: Of that account. Names that are not known yet are registered by the site.
        agent: Who plays.
        games: After how many games to stop; None: never.
        pause_s: Seconds between two frames.
        think_s: Seconds before a move.
        seed: Of the agent's chances.
        tell: Hears of each game that was finished.

    Returns:
        The finished games: players, score and how they ended.
    """
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed

    cookie = await asyncio.to_thread(login, url, username, password)
    parts = urlsplit(url)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme)
    if scheme is None:
        raise InterplayError(f"the address {url!r} is neither http:// nor https://")
    address = f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}/ws"
    async with connect(address, additional_headers={"cookie": f"hanabi.sid={cookie}"}, ping_timeout=120) as socket:
        bot = HanabLiveBot(agent, socket.send, pause_s, think_s, seed)
        done = 0
        try:
            async for frame in socket:
                await bot.hear(frame if isinstance(frame, str) else frame.decode())
                for game in bot.finished[done:]:
                    tell(game)
                done = len(bot.finished)
                if games is not None and done >= games:
                    break
        except ConnectionClosed as error:
            raise InterplayError(f"the site closed the connection: {error}") from None
    return bot.finished
