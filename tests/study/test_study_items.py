"""Sliders, media, branching, loops, drawn orders, attention checks, piped answers, times of items."""

import asyncio

import pytest

from interplay.errors import InterplayError
from interplay.study.export.files import read_folder, write_folder
from interplay.study.http.page_views import known_order
from interplay.study.protocol.answer_conditions import holds, parse
from interplay.study.protocol.flow import first_slots, options, ordered, pages, with_partners_met
from interplay.study.protocol.reading import load
from interplay.study.protocol.reading import parse as read_study
from tests.study.conftest import opened, within_a_minute
from tests.study.items_study import ITEMS, write_items
from tests.study.visitor import Visitor

YOU = {"warm": 35, "pet": "cat", "called": "Tom", "read": 2}


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    folder = tmp_path_factory.mktemp("items")
    with opened(load(write_items(folder)), folder) as served:
        yield served


async def come(items, **answers):
    visitor = Visitor(items.url, "items")
    await visitor.look()
    await visitor.answer(agree=True)
    await visitor.answer(**{**YOU, **answers})
    return visitor


@pytest.mark.parametrize(
    ("condition", "facts", "expected"),
    [
        ("a >= 4", {"a": 4}, True),
        ("a >= 4", {"a": 3}, False),
        ("a >= 4", {}, False),
        ("not a >= 4", {}, True),
        ("a > 1 and b == 'x'", {"a": 2, "b": "x"}, True),
        ("a > 1 or b == 'x'", {"a": 0, "b": "y"}, False),
        ("'bots' in how", {"how": ["cards", "bots"]}, True),
        ("how not in ['a', 'b']", {"how": "c"}, True),
        ("1 < a < 3", {"a": 2}, True),
        ("a < 'x'", {"a": 2}, False),
        ("answer('b-1') == -2", {"b-1": -2}, True),
    ],
)
def test_a_condition_holds_of_answers(condition, facts, expected):
    assert holds(condition, facts) is expected


@pytest.mark.parametrize("text", ["__import__('os')", "a.b == 1", "a[0] == 1", "a +", "f(1)", "[a] == 1", "a" * 600])
def test_a_condition_is_nothing_but_comparisons(text):
    with pytest.raises(ValueError, match="condition"):
        parse(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("pet == 'cat'", "dog == 'cat'", "no question 'dog' is asked before it"),
        ("enough == 'yes'", "never == 1", "no question 'never' is asked before it"),
        ("{answer.called}", "{answer.tokens}", "no question 'tokens' is asked before it"),
        ("media: [square]", "media: [circle]", "media 'circle' is not known"),
        ("min: 0, max: 50", "min: 50, max: 0", "a slider goes from"),
        ("game: hanabi, seed", "game: chess, seed", "there is no game 'chess'"),
        ("file: media/square.png", "file: media/square.exe", "is none of png"),
        ("pet == 'cat'", "pet = 'cat'", "cannot be read"),
    ],
)
def test_what_is_wrong_with_an_item_is_told_with_its_line(old, new, message):
    assert old in ITEMS
    with pytest.raises(InterplayError, match=rf"line \d+.*{message}"):
        read_study(ITEMS.replace(old, new, 1))


def test_media_must_be_there_and_inside(tmp_path):
    path = write_items(tmp_path)
    before = load(path).hash
    (tmp_path / "media" / "square.png").write_bytes(b"another")
    assert load(path).hash != before  # another picture is another study
    path.write_text(ITEMS.replace("media/square.png", "media/../../square.png"))
    with pytest.raises(InterplayError, match="outside of this folder"):
        load(path)
    path.write_text(ITEMS.replace("media/square.png", "media/gone.png"))
    with pytest.raises(InterplayError, match="no such file"):
        load(path)


def test_a_position_that_cannot_be_reached_is_told(tmp_path):
    from interplay.study.pages import media

    path = write_items(tmp_path)
    path.write_text(ITEMS.replace("hint +1 R", "discard 0"))
    with pytest.raises(InterplayError, match=r"'start'.*'discard 0' is not legal there"):
        media.views(load(path))


def test_pages_branch_loop_and_repeat_answers(items):
    async def walk():
        visitor = await come(items)
        assert visitor.page["id"] == "cats"
        page = await visitor.answer()
        assert (page["id"], page["title"]) == ("quiz", "What Tom sees")
        shown = page["questions"][0]["media"]
        assert shown["kind"] == "board"
        assert shown["view"]["tokens"] == 7
        assert all(card["colour"] is None for card in shown["view"]["hands"][0])  # one's own hand is hidden
        page = await visitor.answer(tokens="7")
        assert page["title"] == "Turn 1: it is 35 degrees, you have A cat"
        assert page["questions"][1]["id"] == "read2"
        page = await visitor.answer(enough="no", read2=5)
        assert page["id"] == "loop.2.more"
        page = await visitor.answer(enough="yes", read2=5)
        assert page["kind"] == "done"  # the third turn is left out
        other = await come(items, pet="none", called="", warm=10)
        assert other.page["id"] == "quiz"  # without a cat, and the name was not asked for
        page = await other.answer(tokens="7")
        assert [q["id"] for q in page["questions"]] == ["enough"]
        await visitor.client.aclose()
        await other.client.aclose()

    within_a_minute(walk())


def test_failed_attention_checks_end_the_study(items):
    async def walk():
        visitor = await come(items, read=4)
        await visitor.answer()
        await visitor.answer(tokens="7")
        page = await visitor.answer(enough="no", read2=1)
        assert page["kind"] == "done"
        assert page["code"] is None
        await visitor.client.aclose()

    within_a_minute(walk())


def test_orders_are_drawn_for_each_person_and_last_stays_last():
    protocol = read_study(ITEMS)
    page = next(page for page in pages(protocol, first_slots(protocol), 0) if page.id == "you")
    [pet] = [question for question in page.item.questions if question.id == "pet"]
    assert len({tuple(q.id for q in ordered(page, seed)) for seed in range(50)}) > 10
    drawn = {tuple(o.value for o in options(page, pet, seed)) for seed in range(50)}
    assert drawn == {("cat", "dog", "none"), ("dog", "cat", "none")}
    assert ordered(page, 7) == ordered(page, 7)


def test_times_and_places_of_items_are_exported(items, tmp_path):
    async def walk():
        visitor = Visitor(items.url, "items")
        await visitor.look()
        page = await visitor.answer(agree=True)
        body = {"page": "you", "answers": YOU, "seconds": 9.0}
        body["items"] = {"warm": {"first_s": 1.5, "last_s": 2.5, "changes": 3}}
        headers = {"x-csrf": visitor.state["csrf"], "origin": items.url}
        reply = await visitor.client.post(f"{visitor.api}/answer", json=body, headers=headers)
        assert reply.status_code == 200
        wrong = {**body, "items": {"warm": {"first_s": -1}}}
        reply = await visitor.client.post(f"{visitor.api}/answer", json=wrong, headers=headers)
        assert reply.status_code in (400, 422)
        await visitor.client.aclose()
        return [q["id"] for q in page["questions"]]

    order = within_a_minute(walk())
    write_folder(items.base.database, tmp_path / "out", traces=False)
    table = read_folder(tmp_path / "out").answers
    rows = [row for row in table if row["first_s"] is not None]
    assert [(row["question"], row["first_s"], row["last_s"], row["changes"]) for row in rows] == [("warm", 1.5, 2.5, 3)]
    assert rows[0]["place"] == order.index("warm") + 1
    mine = [row for row in table if row["answer"] == rows[0]["answer"]]
    assert {row["question"]: row["place"] for row in mine} == {name: n for n, name in enumerate(order, start=1)}
    assert sorted(next(row for row in mine if row["question"] == "pet")["options"]) == ["cat", "dog", "none"]


def test_media_are_sent_and_nothing_else(items):
    async def walk():
        visitor = await come(items)
        address = f"{items.url}/study/items/media"
        square = await visitor.client.get(f"{address}/square")
        assert square.headers["content-type"] == "image/png"
        assert square.content.startswith(b"\x89PNG")
        film = await visitor.client.get(f"{address}/film", headers={"range": "bytes=0-3"})
        assert film.status_code == 206
        assert len(film.content) == 4
        captions = await visitor.client.get(f"{address}/film?captions=true")
        assert captions.text.startswith("WEBVTT")
        for name in ("start", "items.yaml", "..%2Fitems.yaml", "none"):
            assert (await visitor.client.get(f"{address}/{name}")).status_code == 404
        await visitor.client.aclose()

    within_a_minute(walk())


def test_those_who_fail_a_check_are_left_out(items, tmp_path):
    from interplay.study.analysis.run import analyse

    async def walk():
        for read in (2, 3):
            visitor = await come(items, pet="none", called="", warm=20 + read, read=read)
            await visitor.answer(tokens="7")
            await visitor.answer(enough="yes")
            await visitor.client.aclose()

    asyncio.run(walk())
    write_folder(items.base.database, tmp_path / "out", traces=False)
    findings = analyse(read_folder(tmp_path / "out"))
    why = {row["why_not"] for row in findings.results[0].tables["people"]}
    assert "1 attention checks failed" in why


LEFT_OUT = """
name: left_out
title: Left out
games: {hanabi: {game: hanabi/2p}}
partners: {one: hanabi/simple, two: hanabi/holmes, three: random}
designs:
  agents: {factors: {partner: [one, two, three]}, order: fixed}
flow:
  - {kind: consent, id: consent, title: Consent, version: "1", checkboxes: [{id: agree, label: I agree}]}
  - kind: form
    id: wish
    title: Your wish
    questions:
      - id: skip
        type: choice
        label: Skip?
        options: [{value: "yes", label: "Yes"}, {value: "no", label: "No"}]
  - kind: repeat
    id: rounds
    over: agents
    pages:
      - {kind: game, id: game, title: Game, game: hanabi, partner: $partner, when: "turn > 1 or skip == 'no'"}
      - {kind: ranking, id: order, of: agents, title: Order}
  - {kind: instructions, id: after, title: After, text: "First {first}, then {second}"}
"""


def test_games_that_a_condition_left_out_are_not_met():
    study = read_study(LEFT_OUT)
    all_pages = pages(study, first_slots(study), 0)
    ids = [page.id for page in all_pages]
    met = [page.value(page.item.partner) for page in all_pages if page.item.kind == "game"]
    last = ids.index("after")
    every = [f"rounds.{turn}.game" for turn in (1, 2, 3)]
    assert known_order(all_pages, 0, ()) == met  # nothing is decided yet
    assert known_order(all_pages, last, every) == met
    assert known_order(all_pages, last, every[1:]) == met[1:]  # the first game was skipped
    assert known_order(all_pages, ids.index("rounds.2.game"), ()) == met[1:]
    ranking = all_pages[ids.index("rounds.3.order")]
    assert set(with_partners_met(ranking, all_pages, every).met) == set(met)
    assert set(with_partners_met(ranking, all_pages, every[1:]).met) == set(met[1:])
    early = all_pages[ids.index("rounds.1.order")]
    assert with_partners_met(early, all_pages, every[1:]).met == ()
