"""A client that follows the published challenge's messages literally, and knows nothing of ours."""

import json

import httpx
from websockets.asyncio.client import connect


async def play_one(url, agent=None):
    """Connect, drop the handshake, play one game; what was told at its start, and its score."""
    async with connect(url, open_timeout=60, ping_interval=10, ping_timeout=60, max_size=None) as connection:
        await connection.recv()
        response = json.loads(await connection.recv())
        if "error_details" in response:
            raise RuntimeError(response["error_details"])
        info = response.pop("info")
        observed = {name: (values["obs"], values["legal_moves"]) for name, values in response.items()}
        assert set(info) == {"num_players", "candidate_controlling", "is_debug", "game_id"}
        done, score, steps = False, None, 0
        while not done:
            actions = {c: (agent or first_legal)(*observed[c]) for c in info["candidate_controlling"]}
            await connection.send(json.dumps(actions))
            response = json.loads(await connection.recv())
            if "error_details" in response:
                raise RuntimeError(response["error_details"])
            observed = {c: (response[c]["obs"], response[c]["legal_moves"]) for c in info["candidate_controlling"]}
            done, score, steps = response["done"], response["score"], steps + 1
        return info, score, steps


def first_legal(obs, legal_moves):
    return legal_moves.index(1)


def evaluation_info(url, key):
    return httpx.get(f"{url}/evaluation-info/{key}").json()


def next_url(url, key):
    return f"{url.replace('http', 'ws')}/play-next?submission_key={key}"


def test_url(url, key, players, positions):
    chosen = "".join(f"&candidate_positions={p}" for p in positions)
    return f"{url.replace('http', 'ws')}/play-random-agent?num_players={players}{chosen}&test_submission_key={key}"


test_url.__test__ = False
