"""The pages of a challenge by an HTTP client, as browsers send forms: registration, submission, entries, replays."""

import asyncio
import html
import re
from dataclasses import replace

import httpx
import pytest

from interplay.challenge import client, pages, replay_page, repository, results
from interplay.challenge.admin import open_challenge_database
from interplay.challenge.http_app import build
from interplay.challenge.spec import load
from interplay.server.app import Base
from tests.challenge.conftest import challenge, serving
from tests.study.security.test_study_hostile_texts import MARKS, TEXTS

PHASE = {"name": "main", "evaluations": {"per_day": 1000, "total": 1000}}


class InProcess:
    """Draws replays here: a process of its own (tests/study/researcher has one) would begin by loading everything."""

    drawn = 0

    async def replay(self, packed, details):
        self.drawn += 1
        return await asyncio.to_thread(replay_page.page, packed, details)

    async def close(self):
        pass


@pytest.fixture(scope="module")
def shown(tmp_path_factory, clock):
    """A challenge of four games whose replays anyone may watch, with one entry that was played to its end."""
    settings = [{"name": "2p", "game": "hanabi/2p", "partners": ["random", "hanabi/simple"], "games": 4}]
    changes = {"name": "shown", "settings": settings, "prediction": [], "phases": [{**PHASE, "replays": "when_done"}]}
    database = open_challenge_database(str(tmp_path_factory.mktemp("shown") / "shown.db"))
    base = Base(database, clock, guesses_per_minute=10_000)
    app = build(challenge(**changes), base, sizes=(4,), capacity=16)
    app.state.pages.worker = InProcess()
    with serving(app, base) as served:
        served.keys = served.entry("the <b>team</b>", "an <i>agent</i>")
        client.play(served.url, served.keys["evaluation_key"], {"": "hanabi/simple"}, seed=1)
        served.settled()
        yield served
    database.close()


def post(served, path, values, **headers):
    return httpx.post(served.url + path, data=values, headers={"origin": served.url, **headers})


def plain_text(page):
    return html.unescape(re.sub(r"<[^>]+>", "", page.text))


def test_a_team_registers_and_begins_an_evaluation_by_forms(shown):
    assert 'action="/register"' in httpx.get(f"{shown.url}/register").text
    made = post(shown, "/register", {"team": "by form", "contact": "us@example.org"})
    assert made.status_code == 201
    key, test_key = re.findall(r"<code>([^<]+)</code>", made.text)[:2]
    plan = "We expect\r\nfour games.\r\n"
    begun = post(shown, "/submit", {"key": key, "agent": "mine", "plan": plan})
    assert begun.status_code == 201
    assert begun.headers["cache-control"] == "no-store"
    evaluation_key = re.findall(r"<code>([^<]+)</code>", begun.text)[0]
    standing = client.call(shown.url, "GET", "/api/v1/evaluation", evaluation_key)
    assert (standing["agent"], standing["games"]["total"]) == ("mine", 4)
    page = httpx.get(f"{shown.url}/entries/{standing['evaluation']}")
    assert "Games are shown with the result." in page.text
    assert "four games." not in page.text  # plans are shown when the games are played
    assert standing["evaluation"] in httpx.get(shown.url).text
    refused = post(shown, "/submit", {"key": test_key, "agent": "mine", "plan": "x"})
    assert refused.status_code in (401, 403)
    assert test_key not in refused.text


@pytest.mark.parametrize(
    ("path", "values", "code", "words"),
    [
        ("/register", {"team": "", "contact": "x"}, 422, "team: please fill this in"),
        ("/register", {"team": "a\tb", "contact": "x"}, 422, "team: no control characters"),
        ("/register", {"team": "the <b>team</b>", "contact": "x"}, 409, "there is a team called"),
        ("/register", {"team": "x" * 81, "contact": "x"}, 422, "team: at most 80 characters"),
        ("/submit", {"key": "no key", "agent": "a", "plan": "p"}, 401, "key"),
        ("/submit", {"key": "", "agent": "a", "plan": "p"}, 401, "key"),
        ("/submit", {"agent": "a", "plan": ""}, 422, "plan: "),
    ],
)
def test_a_form_that_is_wrong_comes_back_with_what_was_typed(shown, path, values, code, words):
    page = post(shown, path, values)
    assert page.status_code == code
    assert words in re.search(r'role="alert">(.*?)</p>', page.text)[1]
    for name, value in values.items():
        if value and name != "key":
            assert html.escape(value) in page.text
    assert values.get("key") not in re.findall(r'value="([^"]+)"', page.text)


def test_forms_of_other_sites_and_other_bodies_are_refused(shown):
    values = {"team": "from elsewhere", "contact": "x"}
    assert post(shown, "/register", values, origin="https://evil.example").status_code == 403
    assert post(shown, "/register", values, origin="null").status_code == 403
    assert httpx.post(f"{shown.url}/register", json=values, headers={"origin": shown.url}).status_code == 400
    assert "from elsewhere" not in httpx.get(shown.url).text


def test_where_the_host_hands_out_keys_nobody_registers(served):
    closed = pages.ChallengePages(challenge(registration="closed"), served.base, "")
    page = closed.page("register", made=None, wrong="", sent={}).body.decode()
    assert "Registration is closed" in page
    assert "<form" not in page


def test_an_entry_shows_its_result_teamwork_and_games(shown):
    evaluation = shown.keys["evaluation"]
    page = httpx.get(f"{shown.url}/entries/{evaluation}")
    result = client.call(shown.url, "GET", f"/api/v1/evaluations/{evaluation}/result", shown.keys["evaluation_key"])[
        "content"
    ]
    (setting,) = result["settings"]
    text = plain_text(page)
    assert " UTC. 4 of 4 games played" in text
    assert f"{setting['mean']:.2f}" in text
    assert "of the turns with a hint token, the share in which the seat hinted" in text
    assert f"{setting['teamwork']['communicativeness/candidate']:.2f}" in text
    assert "a plan" in text
    assert len(re.findall(r'href="/entries/[0-9a-f]+/games/\d+"', page.text)) == 4
    assert "hanabi/simple" not in page.text  # the partners stay hidden
    board = plain_text(httpx.get(shown.url))
    for name in setting["teamwork"]:
        if name.endswith("/candidate"):
            assert name.rpartition("/")[0].replace("/", " / ") in board


def test_a_game_is_replayed_with_its_partners_under_aliases(shown):
    address = f"{shown.url}/entries/{shown.keys['evaluation']}/games"
    page = httpx.get(f"{address}/0", timeout=None)
    assert page.status_code == 200, plain_text(page)
    assert "sandbox" in page.headers["content-security-policy"]
    assert "candidate" in page.text
    assert re.search(r"partner [12]", page.text)
    assert "hanabi/simple" not in page.text
    for number in ("4", "-1", "x", "99999999"):
        assert httpx.get(f"{address}/{number}").status_code == 404
    assert httpx.get(f"{shown.url}/entries/000000000000/games/0").status_code == 404
    assert httpx.get(f"{shown.url}/entries/..%2f..").status_code == 404


def test_replays_wait_for_the_end_of_the_phase_unless_the_file_says_otherwise(shown, clock):
    entry = {"phase": "main", "result": "final"}
    after = challenge(phases=[{**PHASE, "closes": "2020-01-01T00:00:00Z"}])
    assert "when the phase is over" in pages.unwatchable(challenge(phases=[PHASE]), entry, clock.now())
    assert pages.unwatchable(after, entry, clock.now()) == ""
    assert "with the result" in pages.unwatchable(after, {**entry, "result": "not public now"}, clock.now())
    never = challenge(phases=[{**PHASE, "replays": "never"}])
    assert "not shown" in pages.unwatchable(never, entry, clock.now())


def test_whoever_asks_for_many_replays_has_to_wait(shown):
    address = f"{shown.url}/entries/{shown.keys['evaluation']}/games/0"
    with httpx.Client(timeout=None) as visitor:
        codes = [visitor.get(address).status_code for _ in range(35)]  # the clock stands still meanwhile
    assert codes[-1] == 429
    assert shown.app.state.pages.worker.drawn == 1  # a replay is drawn once


def test_names_and_plans_are_shown_as_text(shown):
    for number, text in enumerate(TEXTS):
        refused = post(shown, "/register", {"team": text, "contact": "\x01" + text})
        assert refused.status_code == 422
        assert not MARKS.search(refused.text), text
        made = shown.entry(f"hostile {number}", text)
        shown.base.database.write(
            lambda tx, made=made, text=text: tx.execute(
                results.submissions.update()
                .where(results.submissions.c.public == made["evaluation"])
                .values(plan=text, status=repository.PLAYED)
            )
        )
        page = httpx.get(f"{shown.url}/entries/{made['evaluation']}")
        assert not MARKS.search(page.text), text
        assert html.unescape(page.text).count(text) >= 2  # the agent's name and the plan
    board = httpx.get(shown.url)
    assert not MARKS.search(board.text)
    assert "<script" not in board.text
    assert "<i>agent</i>" not in board.text
    assert board.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("name", ["hanabi_demo", "overcooked_demo", "hanabi_proxies"])
def test_the_columns_of_shipped_challenges_are_ones_that_their_metrics_give(name):
    import interplay

    shipped = load(name)
    game = interplay.make(shipped.settings[0].game)
    episodes = [
        replace(episode, agents=(episode.agents[0]._replace(name=results.CANDIDATE), *episode.agents[1:]))
        for episode in interplay.play(game, ["random", "random"], episodes=2, seed=0)
    ]
    values = results.teamwork(episodes, shipped.leaderboard.metrics)
    missing = set(shipped.leaderboard.columns) - set(values)
    assert not {column for column in missing if not column.startswith("percent_not_accepted")}  # null without offers
    assert all(pages.meaning(column) != column for column in shipped.leaderboard.columns)
