"""A raw connection in our own protocol."""

import json
from contextlib import contextmanager

import numpy as np
import sqlalchemy as sa
from websockets.sync.client import connect

from interplay.challenge.schema import games, submissions


class Talk:
    def __init__(self, socket):
        self.socket = socket

    def say(self, frame):
        self.socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    def hear(self):
        return json.loads(self.socket.recv(timeout=60))

    def ask(self, **frame):
        self.say(frame)
        return self.hear()

    def next(self, count=1):
        return self.ask(type="next", count=count)["games"]

    def act(self, game, seq, actions):
        return self.ask(type="act", moves=[{"game": game, "seq": seq, "actions": actions}])["games"][0]


@contextmanager
def talking(url, key, path="/api/v1/play", **query):
    query = {"encoding": "belief", "arrays": "lists"} | query
    rest = "&".join(f"{k}={v}" for k, v in query.items())
    headers = {"authorization": f"Bearer {key}"} if key else {}
    address = f"{url.replace('http', 'ws')}{path}?{rest}"
    with connect(address, additional_headers=headers, max_size=None) as socket:
        yield Talk(socket)


def welcomed(url, key, **query):
    return _welcomed(url, key, **query)


@contextmanager
def _welcomed(url, key, **query):
    with talking(url, key, **query) as talk:
        assert talk.hear()["type"] == "welcome"
        yield talk


def any_move(told, pick=None):
    """Legal actions for all seats that are to move at the last step: hints while there are tokens, which lose no
    life, so that the first moves of a game never end it."""
    seats = told["steps"][-1]["seats"]
    draw = pick or (lambda legal: int(np.flatnonzero(legal)[-1]))
    return {seat: draw(view["legal"]) for seat, view in seats.items() if view["turn"]}


def play_out(talk, told, pick=None):
    """Play a game to its end; all that was heard."""
    heard = [told]
    while not told["done"]:
        told = talk.act(told["game"], told["seq"], any_move(told, pick))
        assert "error" not in told, told
        heard.append(told)
    return heard


def rows_of(served, evaluation):
    """The games of an evaluation, out of the books."""
    query = sa.select(games).join(submissions, submissions.c.id == games.c.submission)
    return served.base.database.read(lambda tx: tx.execute(query.where(submissions.c.public == evaluation)).all())
