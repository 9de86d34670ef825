"""The request reader: what is asked of whom, from words alone."""

from __future__ import annotations

import pytest

from interplay.metrics.communication.clauses import Names, clauses
from interplay.metrics.communication.kitchen_words import Vocabulary, components, made_by, singular, split_mix
from interplay.metrics.communication.reader import MessageReader, MessageReading, RequestedAct
from interplay.metrics.communication.records import ObservedAct, TranscriptEvent
from interplay.metrics.communication.scene import KitchenScene, SceneObject

NAMES = (
    "egg", "potato", "potato~slices", "boiled(potato~slices)", "mashed(boiled(potato~slices))", "sweet_potato",
    "bell_pepper", "bell_pepper~slices", "green_bean", "bean", "pea", "corn", "tomato", "dish",
    "boiled(corn+bell_pepper~slices)",
)  # fmt: skip
VOCABULARY = Vocabulary.of(NAMES, product="boiled(corn+bell_pepper~slices)")
CHEF, ASSISTANT = 0, 1


def read(
    text: str, *, speaker=CHEF, to=None, acts=(), scene=None, last=None, roles=("chef", "assistant")
) -> MessageReading:
    message = TranscriptEvent(t=3, seq=0, agent=speaker, kind="message", text=text, acts=tuple(acts), to=to)
    return MessageReader(message, VOCABULARY, Names(roles, speaker), scene or KitchenScene(), lambda seat: last).read()


def acts(text: str, **given) -> list[str]:
    return [str(unit.act) for unit in read(text, **given).units]


PLACE = "place_obj_on_counter"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # second person, role name, imperative
        ("Could you pick up the egg?", ["pickup(egg)"]),
        ("You should cut the potato.", ["cut(potato)"]),
        ("Assistant, please pick up an egg from the ingredient dispenser.", ["pickup(egg, ingredient_dispenser)"]),
        ("The assistant should cut the potato on the chopping board.", ["cut(potato, chopping_board)"]),
        ("Pick the egg up.", ["pickup(egg)"]),
        ("Okay, now slice the bell peppers!", ["cut(bell_pepper)"]),
        ("I need you to fetch two eggs", ["pickup(egg)"]),
        ("Start cutting the potato.", ["cut(potato)"]),
        ("Partner, grab a plate.", ["pickup(dish)"]),
        # bring or pass X: X on the counter
        ("Bring me an egg", [f"{PLACE}(egg, counter)"]),
        ("Please pass the potato slices.", [f"{PLACE}(potato~slices, counter)"]),
        ("Can you get me a tomato?", [f"{PLACE}(tomato, counter)"]),
        ("Hand me the cut potato", [f"{PLACE}(potato~slices, counter)"]),
        ("Put the egg on the counter.", [f"{PLACE}(egg, counter)"]),
        ("Put the egg in the pot.", ["put_obj_in_utensil(egg, pot)"]),
        ("Place the potato on the cutting board.", ["put_obj_in_utensil(potato, chopping_board)"]),
        ("Grab the egg from the counter.", ["pickup(egg, counter)"]),
        ("Deliver the egg to me.", [f"{PLACE}(egg, counter)"]),
        ("Deliver the stew!", ["deliver(boiled(corn+bell_pepper~slices))"]),
        # the longest name, the most derived first
        ("Bring me the sweet potato.", [f"{PLACE}(sweet_potato, counter)"]),
        ("Bring green beans.", [f"{PLACE}(green_bean, counter)"]),
        ("Pass me the mashed potato.", [f"{PLACE}(mashed(boiled(potato~slices)), counter)"]),
        ("Pass me the boiled potato.", [f"{PLACE}(boiled(potato~slices), counter)"]),
        ("Pass me slices of the potato.", [f"{PLACE}(potato~slices, counter)"]),
        ("bring potato~slices", [f"{PLACE}(potato~slices, counter)"]),
        ("bring boiled(potato~slices)", [f"{PLACE}(boiled(potato~slices), counter)"]),
        # several requests in one sentence, pronouns, ellipsis
        ("Pick up the potato and cut it.", ["pickup(potato)", "cut(potato)"]),
        ("Cut the potato, then bring it to me.", ["cut(potato)", f"{PLACE}(potato~slices, counter)"]),
        ("Bring me an egg and a tomato.", [f"{PLACE}(egg, counter)", f"{PLACE}(tomato, counter)"]),
        ("Pick up an egg and place it on the counter", ["pickup(egg)", f"{PLACE}(egg, counter)"]),
        ("1. Pick up the potato\n2. Cut it", ["pickup(potato)", "cut(potato)"]),
        # commitments and reports ask for nothing
        ("I will pick up the egg.", []),
        ("I'll pick up the egg and put it in the pot.", []),
        ("Let me cut the potato.", []),
        ("The chef will cook the egg.", []),
        ("You have already cut the potato.", []),
        ("Thanks for cutting the potato.", []),
        ("Did you cut the potato?", []),
        ("Should I cook the egg?", []),
        ("Don't pick up the egg.", []),
        ("The potato is on the counter.", []),
        ("The recipe needs an egg.", []),
        ("Take your time.", []),
        ("Get ready!", []),
        ("[NOTHING]", []),
        ("", []),
        # both in one sentence
        ("I will cook, and you cut the potato.", ["cut(potato)"]),
        ("I'll handle the pot, please bring me the egg.", [f"{PLACE}(egg, counter)"]),
        ("Cut the potato while I cook the egg.", ["cut(potato)"]),
        ("Bring me the egg so I can cook it.", [f"{PLACE}(egg, counter)"]),
        ("When you are done, pick up a dish.", ["pickup(dish)"]),
        ("If you have the egg, place it on the counter.", [f"{PLACE}(egg, counter)"]),
        ("I put the egg on the counter. Pick it up.", ["pickup(egg)"]),
        # as models talk
        ("Hi! Can you please pick up the egg and place it on the counter for me?",
         ["pickup(egg)", f"{PLACE}(egg, counter)"]),
        ("To make it, you need to pickup an egg from ingredient_dispenser. Then I will cook it.",
         ["pickup(egg, ingredient_dispenser)"]),
        ("Sure, I'll get the egg. Let me know when it's ready.", []),
        ("After you finish cutting, please place the sliced potato on the counter.",
         [f"{PLACE}(potato~slices, counter)"]),
        ("Next, you can wait for me to cook.", []),
        ("You can start by picking up the potato.", ["pickup(potato)"]),
        ("Would you mind cutting the potato?", ["cut(potato)"]),
        ("I would like the assistant to cut the potato.", ["cut(potato)"]),
        ("I need you to pickup(egg, ingredient_dispenser)", ["pickup(egg, ingredient_dispenser)"]),
        ("You should pickup(egg, ingredient_dispenser) and I will cook(pot)", ["pickup(egg, ingredient_dispenser)"]),
        ("Your next task is to cut the potato.", ["cut(potato)"]),
        ("Chef: please cut the potato.", ["cut(potato)"]),
        ("First cut the potato and after that put it on the counter.",
         ["cut(potato)", f"{PLACE}(potato~slices, counter)"]),
        ("Proceed to the ingredient dispenser and grab an egg.", ["pickup(egg)"]),
        ("The potato is on the board, cut it.", ["cut(potato)"]),
        ("No, cut the potato!", ["cut(potato)"]),
        ("You have cut the potato and put it on the counter.", []),
        ("No need to cut the potato.", []),
        ("Get the pot ready.", []),
        ("We need a dish.", []),
        ("I'm waiting for the egg.", []),
        # what nobody can do is asked for nonetheless
        ("Bring me a banana.", [f"{PLACE}(counter)"]),
        # calls
        ("request('pickup(egg, ingredient_dispenser)')", ["pickup(egg, ingredient_dispenser)"]),
        ('request("cut(chopping_board0)")', ["cut(chopping_board)"]),
        ("request(pickup(bell pepper, ingredient_dispenser)); request('place_obj_on_counter()')",
         ["pickup(bell_pepper, ingredient_dispenser)", f"{PLACE}(bell_pepper)"]),
        ("request('bring me an egg')", [f"{PLACE}(egg, counter)"]),
        ("I will pickup(egg, ingredient_dispenser)", []),
    ],
)  # fmt: skip
def test_what_is_asked(text, expected):
    assert acts(text) == expected


def test_whom_is_asked():
    assert [u.to for u in read("Cut the potato.").units] == [ASSISTANT]
    assert [u.to for u in read("Chef, cook the egg.", speaker=ASSISTANT).units] == [CHEF]
    assert [u.to for u in read("Let's cut the potato.").units] == [None]
    assert [u.to for u in read("Someone cut the potato.").units] == [None]


def test_with_three_cooks_a_name_is_needed():
    roles = ("chef", "cutter", "runner")
    assert [u.to for u in read("Runner, bring me an egg.", roles=roles).units] == [2]
    assert [u.to for u in read("Bring me an egg.", roles=roles).units] == [None]
    assert [u.to for u in read("Bring me an egg.", roles=roles, to=1).units] == [1]
    twins = ("chef", "assistant", "assistant")
    assert [u.to for u in read("Assistant, bring me an egg.", roles=twins).units] == [None]
    numbered = ("chef", "assistant", "assistant 2")
    assert [u.to for u in read("Assistant 2, bring me an egg.", roles=numbered).units] == [2]
    assert [u.to for u in read("Assistant, bring me an egg.", roles=numbered).units] == [1]


def test_plan_and_speech_that_say_the_same_are_one_request():
    explicit = [ObservedAct("pickup", "egg", "ingredient_dispenser"), ObservedAct(PLACE)]
    found = read("Please pick up an egg and put it on the counter.", acts=explicit).units
    assert [str(u.act) for u in found] == ["pickup(egg, ingredient_dispenser)", f"{PLACE}(egg)"]
    assert {u.source for u in found} == {"explicit"}


def test_a_model_that_repeats_itself_is_read_in_seconds():
    """With a search that goes back at every word, this took hours."""
    assert clauses("it is good to " * 300, Names(("chef", "assistant"), 0))


def test_waits_are_dropped():
    found = read("Please wait. request('wait(3)')")
    assert (found.units, found.waits) == ((), 2)


class TestVerbsWithoutAnObject:
    """They are about the last thing asked for, then what the partner holds, then what is in the utensil."""

    scene = KitchenScene(
        {ASSISTANT: SceneObject("tomato", "tomato#2")}, {"chopping_board": (SceneObject("potato", "potato#1"),)}
    )
    open_request = RequestedAct(SceneObject("egg", None), ObservedAct("pickup", "egg"), (1, 0))

    def test_the_last_requested_item_of_the_message(self):
        asked = acts("Pick up the corn and place it on the counter", scene=self.scene, last=self.open_request)
        assert asked == ["pickup(corn)", f"{PLACE}(corn, counter)"]

    def test_the_last_requested_item_that_is_still_open(self):
        assert acts("Place it on the counter", scene=self.scene, last=self.open_request) == [f"{PLACE}(egg, counter)"]

    def test_what_the_partner_holds(self):
        unit = read("Place it on the counter", scene=self.scene).units[0]
        assert (str(unit.act), unit.lineage) == (f"{PLACE}(tomato, counter)", "tomato#2")

    def test_what_is_in_the_utensil(self):
        unit = read("request('cut(chopping_board)')", scene=KitchenScene({}, self.scene.utensils)).units[0]
        assert (str(unit.act), unit.lineage) == ("cut(potato, chopping_board)", "potato#1")

    def test_nothing(self):
        assert acts("Cut it") == ["cut()"]

    def test_a_dish_is_not_cut_and_the_order_is_what_is_delivered(self):
        scene = KitchenScene(
            {ASSISTANT: SceneObject("dish", "dish#1")}, {"pot": (SceneObject("boiled(potato~slices)", "potato#1"),)}
        )
        assert acts("Fill the dish from the pot", scene=scene) == ["fill_dish_with_food(boiled(potato~slices), pot)"]
        assert acts("Deliver!", scene=KitchenScene()) == ["deliver(boiled(corn+bell_pepper~slices))"]


def test_names_of_things():
    assert [singular(w) for w in ("potatoes", "dishes", "patties", "slices", "peas", "glass", "eggs")] == [
        "potato", "dish", "patty", "slice", "pea", "glass", "egg",
    ]  # fmt: skip
    assert split_mix("bean+mashed(boiled(a+b))+c~slices") == ["bean", "mashed(boiled(a+b))", "c~slices"]
    assert components("boiled(corn+pea~slices)")[1:] == ["corn+pea~slices", "corn", "pea~slices", "pea"]
    assert made_by("stir", "boiled(potato~slices)") == "mashed(boiled(potato~slices))"
