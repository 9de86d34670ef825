"""A stand-in for hanab.live, written from what is known of its protocol and from nothing of the bridge.

It has one table. A person sits there, invites the bot by a private message, starts, and makes random legal moves. It
keeps its own rules of Hanabi, hides own draws, and refuses what the site refuses.
"""

from __future__ import annotations

import contextlib
import json
import random
from urllib.parse import parse_qs

from fastapi import FastAPI, Request, Response, WebSocket

from interplay.server.serve import serving

ANN, TABLE = "Ann", 7


class Rules:
    """A game of two on the site."""

    def __init__(self, seed: int, bot: int):
        self.chance, self.bot = random.Random(seed), bot
        self.deck = [(suit, rank) for suit in range(5) for rank in (1, 1, 1, 2, 2, 3, 3, 4, 4, 5)]
        self.chance.shuffle(self.deck)
        self.hands = [list(range(5)), list(range(5, 10))]
        self.top, self.clues, self.strikes, self.stacks = 10, 8, 0, [0] * 5
        self.turn, self.mover, self.last, self.end = 0, 0, None, None
        self.log = [self.draw(seat, order) for seat in (0, 1) for order in self.hands[seat]]

    def draw(self, seat, order):
        suit, rank = self.deck[order]
        return {"type": "draw", "playerIndex": seat, "order": order, "suitIndex": suit, "rank": rank}

    def seen(self, action):
        """What the bot is sent: its own draws are hidden."""
        if action["type"] == "draw" and action["playerIndex"] == self.bot:
            return action | {"suitIndex": -1, "rank": -1}
        return action

    def refuse(self, seat, move):
        kind, target = move["type"], move["target"]
        if seat != self.mover:
            return "It is not your turn"
        if kind in (0, 1):
            if target not in self.hands[seat]:
                return "You do not have that card"
            return "You cannot discard at 8 clues" if kind == 1 and self.clues == 8 else None
        if self.clues == 0:
            return "No clues left"
        if target == seat or target not in (0, 1):
            return "Not to yourself"
        return None if self.touched(target, move) else "That clue touches nothing"

    def touched(self, target, move):
        index = 0 if move["type"] == 2 else 1
        return [order for order in self.hands[target] if self.deck[order][index] == move["value"]]

    def make(self, seat, move):
        """The actions that follow from a move."""
        kind, target, out = move["type"], move["target"], []
        if kind >= 2:
            self.clues -= 1
            clue = {"type": kind - 2, "value": move["value"]}
            out.append({"type": "clue", "clue": clue, "giver": seat, "target": target, "turn": self.turn,
                        "list": self.touched(target, move)})  # fmt: skip
        else:
            suit, rank = self.deck[target]
            gone = {"playerIndex": seat, "order": target, "suitIndex": suit, "rank": rank}
            fits = kind == 0 and self.stacks[suit] == rank - 1
            if fits:
                self.stacks[suit] += 1
                self.clues = min(8, self.clues + (rank == 5))
                out.append({"type": "play", **gone})
            else:
                if kind == 0:
                    self.strikes += 1
                    out.append({"type": "strike", "num": self.strikes, "turn": self.turn, "order": target})
                else:
                    self.clues += 1
                out.append({"type": "discard", **gone, "failed": kind == 0})
            self.hands[seat].remove(target)
            if self.top < 50:
                self.hands[seat].append(self.top)
                out.append(self.draw(seat, self.top))
                self.top += 1
                if self.top == 50:
                    self.last = self.turn + 2
        out.append({"type": "status", "clues": self.clues, "score": sum(self.stacks), "maxScore": 25})
        over = self.strikes == 3 or sum(self.stacks) == 25 or self.turn == self.last
        if over:
            self.end = 2 if self.strikes == 3 else 1
            out.append({"type": "gameOver", "endCondition": self.end, "playerIndex": seat, "votes": None})
        self.turn += 1
        self.mover = -1 if over else 1 - self.mover
        out.append({"type": "turn", "num": self.turn, "currentPlayerIndex": self.mover})
        self.log += out
        return out

    def any_move(self, seat):
        moves = [{"type": 0, "target": self.chance.choice(self.hands[seat])}] if self.chance.random() < 0.1 else []
        moves += [{"type": 1, "target": self.hands[seat][0]}] if self.clues < 8 else []
        hints = [
            {"type": k, "target": 1 - seat, "value": v}
            for k, values in ((2, range(5)), (3, range(1, 6)))
            for v in values
        ]
        moves += [m for m in hints if self.clues and self.touched(1 - seat, m)]
        return self.chance.choice(moves)


class Site:
    """The stand-in, and what it saw."""

    def __init__(self, seed=0, bot=1, options=None, lose_a_move=False):
        self.rules, self.bot, self.options = Rules(seed, bot), bot, options or {"variantName": "No Variant"}
        self.lose_a_move, self.frames, self.warnings, self.present = lose_a_move, [], [], False
        self.app = FastAPI()
        self.app.post("/login")(self.login)
        self.app.websocket("/ws")(self.talk)

    async def login(self, request: Request):
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        username = form["username"]
        if form["password"] != "secret" or form["version"] != "bot":
            return Response("Incorrect password.", 401)
        answer = Response("")
        answer.set_cookie("hanabi.sid", f"session of {username}")
        return answer

    async def talk(self, socket: WebSocket):
        name = socket.cookies.get("hanabi.sid", "").strip('"').removeprefix("session of ")
        if not name:
            await socket.close()
            return
        await socket.accept()

        async def say(command, content):
            await socket.send_text(f"{command} {json.dumps(content)}")

        table = {
            "id": TABLE,
            "name": "x",
            "running": False,
            "players": [ANN],
            "options": self.options,
            "variant": "No Variant",
        }
        await say("welcome", {"userID": 1, "username": name, "playingAtTables": []})
        await say("tableList", [table])
        await say("soundLobby", {"file": "none of our business"})
        await say("chat", {"msg": "/join", "who": ANN, "recipient": name, "room": ""})
        with contextlib.suppress(Exception):
            while True:
                frame = await socket.receive_text()
                command, _, text = frame.partition(" ")
                content = json.loads(text)
                self.frames.append((command, content))
                await self.answer(say, command, content)

    async def answer(self, say, command, content):
        rules, names = self.rules, [ANN, "Bot-x"] if self.bot == 1 else ["Bot-x", ANN]
        if command == "tableJoin":
            await say("joined", {"tableID": TABLE})
            await say("tableStart", {"tableID": TABLE, "replay": False})
        elif command == "getGameInfo1":
            about = {"tableID": TABLE, "playerNames": names, "ourPlayerIndex": self.bot, "spectating": False}
            await say("init", about | {"replay": False, "databaseID": -1, "options": self.options, "paused": False})
        elif command == "getGameInfo2":
            await say("gameActionList", {"tableID": TABLE, "list": [rules.seen(a) for a in rules.log]})
            if not self.present and rules.mover != self.bot:  # Ann moves before the bot is counted as present
                rules.make(rules.mover, rules.any_move(rules.mover))
        elif command == "loaded":
            self.present = True
        elif command == "action":
            reason = rules.refuse(self.bot, content)
            if reason is not None:
                self.warnings.append(reason)
                await say("warning", {"warning": reason})
                return
            await self.broadcast(say, rules.make(self.bot, content))
            if rules.end is None:
                made = rules.make(rules.mover, rules.any_move(rules.mover))
                if self.lose_a_move and rules.turn > 6:
                    self.lose_a_move = False
                    made = made[-1:]  # only the turn arrives
                await self.broadcast(say, made)

    async def broadcast(self, say, actions):
        for action in actions:
            await say("gameAction", {"tableID": TABLE, "action": self.rules.seen(action)})
        if self.rules.end is not None:
            await say("tableGone", {"tableID": TABLE})
            await say("finishOngoingGame", {"tableID": TABLE, "databaseID": 1, "sharedReplayLeader": ANN})


@contextlib.contextmanager
def running(site: Site):
    with serving(site.app) as (url, _):
        yield url
