"""The kitchen speaks the language of whoever takes part: Chinese by itself, others as the study file says."""

import asyncio
import json
import random
import re

import pytest
import yaml

from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.games.collab_kitchen.dishes import DISHES, INGREDIENTS
from interplay.games.collab_kitchen.macros import ERRORS, Macro, legal_macros, parse_macro
from interplay.games.registry import make
from interplay.rollout.live import LiveTable
from interplay.server.app import Base
from interplay.server.database import SERVER, open_database
from interplay.study.db.schema import HISTORY
from interplay.study.http.app import build
from interplay.study.live.kitchen_translations import PHRASES
from interplay.study.live.kitchen_view import CookMemory, readable, view
from interplay.study.live.kitchen_words import Speech
from interplay.study.protocol.reading import parse
from interplay.study.protocol.translations import all_phrases, skeleton
from tests.study.conftest import serving
from tests.study.texts import game, line_of, study
from tests.study.visitor import Visitor

WORDS = """
words:
  "Take {thing} from the {place}": {de: "{thing} aus {place} nehmen"}
  egg: {de: Ei}
  ingredients: {de: dem Vorrat}
  "boiled {food}": {de: "gekochtes {food}"}
  chef: {de: Chefin}
"""
BARE = study(
    "polyglot",
    game("dish", "dish", "plain"),
    languages="[en, de, zh]",
    games="{dish: {game: kitchen/nrc, options: {dish: boiled egg, horizon: 30}, partner_delay_s: 0.01}}",
    partners="{plain: stay}",
)
STUDY = BARE + WORDS
LATIN = re.compile(r"[A-Za-z]{3,}")


@pytest.fixture(scope="module")
def polyglot():
    return parse(STUDY)


def shown(game, state, speech, seat=0):
    table = LiveTable((1, 2), {1: "plain"}, speech={seat: speech})
    table.state, table.legal = state, None
    return view(game, table, seat)


def texts(view):
    """All that a person reads, but for names of actions, which the browser sends back."""
    found = [view["text"], view["role"], *view["order"], *re.findall(r">([^<>]+)</text>", view["svg"])]
    return [*found, *(move[part] for move in (*view["legal"], *view["requests"]) for part in ("label", "group"))]


@pytest.mark.parametrize("name", ["kitchen/nrc", "kitchen/rc"])
def test_nothing_is_left_in_english_for_who_reads_chinese(name):
    for dish in ("boiled egg", "bell_pepper soup", "potato, carrot and onion patty", "baked potato"):
        game = make(name, dish=dish)
        state = game.init()
        for seat in (0, 1):
            told = texts(shown(game, state, Speech("zh"), seat))
            assert [text for text in told if LATIN.search(text)] == []


def test_states_on_the_way_are_told_in_chinese_too():
    """Contents of utensils, counters and hands, as far as cooks bring them who try everything."""
    game, rng = make("kitchen/nrc", dish="bell_pepper soup", horizon=400), random.Random(0)
    state, seen = game.init(), set()
    cooks = [CookMemory(game, seat) for seat in (0, 1)]
    for _ in range(250):
        for seat, cook in enumerate(cooks):
            cook.dropped(state)
            if cook.act is None:
                cook.choose(state, str(rng.choice(legal_macros(game, state, seat))))
        joint = [cook.next(state) for cook in cooks]
        before, (state, _) = state, game.step(state, joint)
        for cook in cooks:
            cook.stepped(before, state, joint)
        seen |= {utensil.left for utensil in state.world.utensils if utensil.contents}
        told = texts(shown(game, state, Speech("zh-TW")))
        assert [text for text in told if LATIN.search(text)] == []
    assert {None, 0} <= seen, "no utensil was filled and done"


def test_english_is_as_models_read_it_but_for_names_that_are_code():
    game = make("kitchen/rc", dish="baked sweet_potato")
    told = shown(game, game.init(), Speech())
    assert told["text"] == game.render(game.init(), 0)
    assert told["svg"] == game.scene(game.init(), 0).svg()
    assert told["order"] == [
        "baked sweet potato", "Bake sweet potato in the oven: gives baked sweet potato", "Take it and serve it",
    ]  # fmt: skip
    assert "order: baked sweet potato" in told["svg"]


def test_a_study_says_it_in_its_own_words(polyglot):
    speech = Speech("de", polyglot.words)
    game = make("kitchen/nrc", dish="boiled egg")
    told = shown(game, game.init(), speech)
    assert "Ei aus dem Vorrat nehmen" in [move["label"] for move in told["legal"]]
    assert told["order"][0] == "gekochtes Ei"
    assert told["role"] == "Chefin"
    assert "Take apple from the ingredients".replace("ingredients", "x") not in told["text"]
    assert speech.say("Wait") == "Wait"  # what is not translated stays English
    assert readable("request('pickup(egg, ingredient_dispenser)')", speech) == "Please: Ei aus dem Vorrat nehmen."
    english = Speech("en", polyglot.words)
    assert english.plain
    assert english.act(parse_macro("pickup(egg, ingredient_dispenser)"), None) == "Take egg from the ingredients"
    renamed = Speech("en", {"egg": "hen's egg"})
    assert renamed.act(Macro("pickup", "egg"), None) == "Take hen's egg"


def test_everything_that_can_be_said_is_listed():
    """Ingredients, reasons, dishes and acts: none falls back to English in Chinese."""
    speech = Speech("zh")
    assert set(ERRORS.values()) <= set(PHRASES)
    assert {name.replace("_", " ") for name in INGREDIENTS} <= set(PHRASES)
    for dish in DISHES.values():
        assert not LATIN.search(" ".join([speech.dish(dish), *speech.recipe(dish)]))
    acts = ("deliver()", "wait(3)", "cook(pot)", "stir()", "fill_dish_with_food(pot2)", "pickup(dish, dish_dispenser)")
    for text in acts:
        assert not LATIN.search(speech.act(parse_macro(text), None)), text
    for held in PHRASES.values():
        assert held["zh"].strip()


def test_on_a_real_server_each_reads_their_own(polyglot, tmp_path):
    base = Base(open_database(str(tmp_path / "p.db"), (SERVER, HISTORY)))

    async def look(url):
        async with Visitor(url, "polyglot") as me:
            await me.answer(agree=True)
            found = {}
            for language in ("en", "zh", "de", "en"):
                headers = {"x-csrf": me.state["csrf"], "origin": me.url}
                await me.client.post(f"{me.api}/language", json={"language": language}, headers=headers)
                async with me.game() as line:
                    tick = await line.until("tick")
                    await line.send(type="act", seq=100 + len(found), action="pickup(egg, oven)")
                    error = await line.until("error")
                found[language] = tick["view"]["order"][0], error["message"]
            async with me.game() as line:
                await line.until("tick")
                await line.send(type="act", seq=200, action="pickup(egg, ingredient_dispenser)")
                moved = await line.until(lambda m: m["type"] == "tick" and m["t"] >= 1)
            return found, moved

    with serving(build(polyglot, base, sizes=(1,)), base) as served:
        found, moved = asyncio.run(asyncio.wait_for(look(served.url), 60))
    base.database.close()
    assert found["zh"] == ("煮鸡蛋", "现在不能这样做：那里没有这样东西")
    assert found["en"][0] == "boiled egg"
    assert found["en"][1].startswith("this cannot be done now: there is no egg at the oven")
    assert found["de"][0] == "gekochtes Ei"
    assert "egg" in moved["view"]["text"]


@pytest.mark.parametrize(
    ("old", "new", "where", "told"),
    [
        ("egg: {de: Ei}", "eggs: {de: Ei}", "eggs:", "'eggs' is never said here.*did you mean 'egg'"),
        ("egg: {de: Ei}", "egg: {fr: oeuf}", "egg:", "'fr' is not one of this study's languages"),
        ('"{thing} aus {place} nehmen"', '"{thing} nehmen"', "Take {thing}", "needs the same names in braces"),
        ('"gekochtes {food}"', '"gekochtes {foot}"', "boiled {food}", "needs the same names in braces"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(old, new, where, told):
    assert old in STUDY
    text = STUDY.replace(old, new)
    with pytest.raises(InterplayError, match=f"line {line_of(text, where)}: .*{told}"):
        parse(text)


def test_the_hash_of_files_without_words_is_as_before(polyglot):
    assert parse(BARE).hash == parse(BARE + "words: {}\n").hash != polyglot.hash


def test_the_list_to_translate_is_a_part_of_a_study_file(capsys):
    assert run(["study", "words", "de", "--of", "all"]) == 0
    text = capsys.readouterr().out
    assert yaml.safe_load(text)["words"] == skeleton(all_phrases(), "de")
    assert parse(BARE + text).words["egg"] == {"de": "egg"}
    assert run(["study", "words", "zh", "--of", "kitchen", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"phrase": "egg", "said": "鸡蛋"} in rows


def test_something_that_is_no_language_is_told(capsys):
    assert run(["study", "words", "Deutsch bitte"]) != 0
    assert "no language" in capsys.readouterr().err
