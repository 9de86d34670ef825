"""Take part in a challenge of interplay with any agent: needs websockets and numpy, and nothing of interplay.

    import interplay_client as challenge

    team = challenge.register(url, "ours", "us@example.org")
    entry = challenge.enter(url, team["team_key"], "my-agent", open("plan.md").read())
    challenge.play(url, entry["evaluation_key"], make_agent, encoding="belief")
    challenge.predict(url, entry["evaluation_key"], make_agent, encoding="belief")

`make_agent(setting, seat)` returns a new agent for one seat of one game: a function of (observation, legal, to_move)
that is called at every step of the game, on turn or off, and returns an action. Where the challenge has a prediction,
it returns the probabilities of all actions instead.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from websockets.sync.client import connect

__all__ = ["ChallengeError", "call", "enter", "play", "predict", "register", "result"]
__version__ = "0.1.0"

Agent = Callable[[Any, np.ndarray, bool], Any]
MakeAgent = Callable[[str, int], Agent]


class ChallengeError(Exception):
    """The server refused something, or an agent failed before a game was dealt."""


def call(url: str, method: str, path: str, key: str | None = None, body: Any = None) -> Any:
    """One request to a server; its answer as JSON.

    Raises:
        ChallengeError: The server refuses, or cannot be reached.
    """
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {key}"} if key else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url.rstrip("/") + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        try:
            message = json.load(error)["message"]
        except (ValueError, KeyError, TypeError):
            message = f"status {error.code}"
        raise ChallengeError(f"{url} says: {message}") from None
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise ChallengeError(f"cannot reach {url}: {error}") from None


def register(url: str, team: str, contact: str) -> dict[str, Any]:
    """Register a team; its keys are shown this once."""
    return call(url, "POST", "/api/v1/teams", body={"team": team, "contact": contact})


def enter(url: str, team_key: str, agent: str, plan: str) -> dict[str, Any]:
    """Begin an evaluation with a pre-registered plan; its key is shown this once."""
    return call(url, "POST", "/api/v1/evaluations", team_key, {"agent": agent, "plan": plan})


def result(url: str, key: str, evaluation: str) -> dict[str, Any]:
    """The signed result of an evaluation."""
    return call(url, "GET", f"/api/v1/evaluations/{evaluation}/result", key)


def array_of(value: Any) -> Any:
    """An observation as numpy arrays: `{dtype, shape, data}` is one, and what holds several keeps its form."""
    if isinstance(value, dict) and set(value) == {"dtype", "shape", "data"}:
        return np.frombuffer(base64.b64decode(value["data"]), np.dtype(value["dtype"])).reshape(value["shape"])
    if isinstance(value, dict):
        return {name: array_of(one) for name, one in value.items()}
    return [array_of(one) for one in value] if isinstance(value, list) else value


class _Socket:
    """Frames of JSON, one answer to each."""

    def __init__(self, url: str, path: str, key: str, encoding: str):
        address = f"{url.rstrip('/').replace('http', 'ws', 1)}{path}?encoding={encoding}&arrays=base64"
        headers = {"Authorization": f"Bearer {key}"}
        self.socket = connect(address, additional_headers=headers, max_size=None, ping_timeout=120)
        self._answer()  # the welcome

    def ask(self, **frame: Any) -> dict[str, Any]:
        self.socket.send(json.dumps(frame))
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        answer = json.loads(self.socket.recv())
        if answer.get("type") == "error":
            raise ChallengeError(f"the server says: {answer['message']}")
        return answer


def _check(url: str, make_agent: MakeAgent) -> None:
    """Make an agent for every setting before a game is dealt."""
    for setting in call(url, "GET", "/api/v1/challenge")["settings"]:
        try:
            agent = make_agent(setting["name"], 0)
        except Exception as error:
            raise ChallengeError(f"no agent for {setting['name']!r}: {type(error).__name__}: {error}") from error
        if not callable(agent):
            raise ChallengeError(f"make_agent({setting['name']!r}, 0) gave {agent!r:.60}, which cannot be called")


def play(
    url: str, key: str, make_agent: MakeAgent, *, encoding: str, at_once: int = 16, most: int | None = None
) -> list[float]:
    """Play all games that are left of an evaluation (or `most` of them) and return their scores.

    Args:
        url: The server.
        key: The evaluation's key.
        make_agent: Gives an agent for a setting's name and a seat.
        encoding: What the agents read, one of the challenge's.
        at_once: Games in play at a time.
        most: Games at most.

    Raises:
        ChallengeError: The server refuses something, or an agent cannot be made.
    """
    _check(url, make_agent)
    talk, scores, games, agents = _Socket(url, "/api/v1/play", key, encoding), [], {}, {}
    with talk.socket:
        begun = 0
        while True:
            wanted = at_once - len(games) if most is None else min(at_once - len(games), most - begun)
            if wanted > 0:
                for game in talk.ask(type="next", count=wanted)["games"]:
                    games[game["game"]], begun = game, begun + 1
                    agents[game["game"]] = {str(s): make_agent(game["setting"], s) for s in game["seats"]}
            if not games:
                return scores
            moves = [_move(name, game, agents[name]) for name, game in games.items()]
            for update in talk.ask(type="act", moves=moves)["games"]:
                if update.get("error") == "unavailable":
                    continue
                if "error" not in update and not update["done"]:
                    games[update["game"]] = update
                    continue
                if "error" not in update:
                    scores.append(update["score"])
                del games[update["game"]], agents[update["game"]]


def _move(name: str, game: dict[str, Any], agents: dict[str, Agent]) -> dict[str, Any]:
    actions = {}
    for step in game["steps"]:
        for seat, view in step["seats"].items():
            choice = agents[seat](array_of(view["observation"]), np.array(view["legal"], bool), view["turn"])
            if view["turn"]:
                actions[seat] = int(choice)
            else:
                actions.pop(seat, None)
    game["steps"] = []  # shown once; the same move is sent again if the server could not book it
    game.setdefault("actions", {}).update(actions)
    return {"game": name, "seq": game["seq"], "actions": game["actions"]}


def predict(url: str, key: str, make_agent: MakeAgent, *, encoding: str, at_once: int = 16) -> int:
    """Answer all that is left of the action prediction; the number of answers.

    Agents return the probabilities of all actions.
    """
    talk, answered = _Socket(url, "/api/v1/predict", key, encoding), 0
    with talk.socket:
        while games := {g["game"]: g for g in talk.ask(type="next", count=at_once)["games"]}:
            agents = {name: make_agent(game["setting"], game["seat"]) for name, game in games.items()}
            while games:
                answers = []
                for name, game in games.items():
                    odds: Sequence[float] = ()
                    for step in game["steps"]:
                        odds = agents[name](array_of(step["observation"]), np.array(step["legal"], bool), step["turn"])
                    answers.append({"game": name, "seq": game["seq"], "probabilities": [float(p) for p in odds]})
                for update in talk.ask(type="predict", answers=answers)["games"]:
                    if "error" in update:
                        raise ChallengeError(f"game {update['game']}: {update['message']}")
                    answered += 1
                    games[update["game"]] = update
                games = {name: game for name, game in games.items() if not game["done"]}
    return answered
