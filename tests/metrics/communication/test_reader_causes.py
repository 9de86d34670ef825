"""Messages made up for this test, one list for each way in which models' talk was once misread.

A line is a message, an arrow and the acts that it asks the partner for; `A:` marks the assistant as the speaker.
"""
# ruff: noqa: E501, a message is one line

from __future__ import annotations

import pytest

from interplay.metrics.communication.reader_error import read_with_rules

SHORT = {"put": "put_obj_in_utensil", "place": "place_obj_on_counter", "fill": "fill_dish_with_food"}

CAUSES = {
    "several things to one place": r"""
        Put the mashed taro and onion slices into oven0. -> put(mashed(taro), oven); put(onion~slices, oven)
        Place the pea and the carrot along with the mashed potato into the oven. -> put(pea, oven); put(carrot, oven); put(mashed(potato), oven)
        A: Put it in the pot. Then place the corn in the oven together with the lentil. -> put(pot); put(corn, oven); put(lentil, oven)
        Put the egg in the pot and the potato in the oven. -> put(egg, pot); put(potato, oven)
        Move the onion slices into the oven with the mashed potato. -> put(onion~slices, oven)
        Bring me the egg and a dish. -> place(egg, counter); place(dish, counter)
        """,
    "asking for words": r"""
        A: Could you provide the correct recipe steps for making the soup? ->
        A: Please give me some more details about the carrot. ->
        Please continue with your current plan to cut the corn. -> cut(corn)
        """,
    "means and ends": r"""
        A: Start baking the carrot by stirring oven0. -> bake(carrot); stir(carrot, oven)
        A: Once the pea slices are baked, transfer them to pot0. -> put(baked(pea~slices), pot)
        It is not necessary to slice the taro; put it on the counter. -> place(taro, counter)
        I see the egg is ready to cut, so go ahead and cut it. -> cut(egg)
        """,
    "numbered utensils": r"""
        Put the carrot slices into pot0. -> put(carrot~slices, pot)
        Please place the tomato in oven0. -> put(tomato, oven)
        Drop the onion into pot0 now. -> put(onion, pot)
        Transfer the boiled egg from pot0 to the counter. -> place(boiled(egg), counter)
        Pick up the zucchini slices from chopping_board0. -> pickup(zucchini~slices, chopping_board)
        Cut the eggplant on chopping_board0. -> cut(eggplant, chopping_board)
        Stir the lentil in blender0. -> stir(lentil, blender)
        A: Chef, cook the corn slices in pot0. -> cook(corn~slices, pot)
        A: Please bake the taro in oven1. -> bake(taro, oven)
        Take the pea from ingredient_dispenser0 and put it in blender0. -> pickup(pea, ingredient_dispenser); put(pea, blender)
        A: Load the spinach into the oven0. -> put(spinach, oven)
        Grab a plate from dish_dispenser0. -> pickup(dish, dish_dispenser)
        A: Fill the dish with the soup from pot0. -> fill(product, pot)
        A: Place the beef into pot #1. -> put(beef, pot)
        Leave the apple on counter0. -> place(apple, counter)
        A: Put the beef in pot0 and cook it in pot0. -> put(beef, pot); cook(beef, pot)
        Put the tofu on chopping_board0, then cut it. -> put(tofu, chopping_board); cut(tofu)
        """,
    "own acts in subordinate clauses": r"""
        Put the onion on the counter so I can take it and bake it. -> place(onion, counter)
        Please place the carrot on the counter so that I can pick it up, put it in the oven, and bake it. -> place(carrot, counter)
        Cut the tomato so that we can cook it and serve it. -> cut(tomato)
        Bring me a dish so I can fill it with the soup and deliver it. -> place(dish, counter)
        Slice the zucchini while I cook the lentil and prepare the oven. -> cut(zucchini)
        Place the taro on the counter for me to pick up and boil. -> place(taro, counter)
        A: I put the egg down so you can pick it up and cook it. ->
        A: The corn is on the counter for you to grab and boil in the pot. ->
        Wait until I pick up the pea and put it in the pot. ->
        Cut the apple because I want to bake it and serve it. -> cut(apple)
        Place the slices of the pumpkin on the counter, so I can bake them. Then pick up a dish. -> place(pumpkin~slices, counter); pickup(dish)
        Once I bake the taro and plate it, please pick up a dish. -> pickup(dish)
        Pick up the dish I put on the counter. -> pickup(dish)
        Cut the potato that I placed on the board. -> cut(potato)
        A: Please pick up the beef slices I cut for you. -> pickup(beef~slices)
        Before I cook the corn and stir it, bring a bell pepper. -> place(bell_pepper, counter)
        After I take out the egg and serve it, cut the onion. -> cut(onion)
        Hand me the spinach, so that I'm able to cook it and then bake it. -> place(spinach, counter)
        Place the potato on the counter so the chef can pick it up and boil it. -> place(potato, counter)
        A: Put the carrot down so I can slice it and give it back. -> place(carrot, counter)
        If I bake the potato and serve it, will you be ready? ->
        Let me know when it's done so I can pick it up and cook it. ->
        Please inform me once you are finished, so I can put it in the oven and start baking. ->
        """,
    "subordinate clauses that end": r"""
        Once you have the egg, place it on the counter. -> place(egg, counter)
        Once the board is free and the onion is gone, please cut the carrot. -> cut(carrot)
        Pick up the pea once it is ready and put it in the blender. -> pickup(pea); put(pea, blender)
        A: Pick up the tomato slices after you finish with the pot and bake them. -> pickup(tomato~slices); bake(tomato~slices)
        After you pick up the potato and cut it, place the slices on the counter. -> place(potato~slices, counter)
        When the pot is empty, put the corn in it. -> put(corn, pot)
        If the board is free, cut the zucchini; otherwise wait. -> cut(zucchini)
        When ready bring it to me. -> place(counter)
        Once done place the carrot on the counter. -> place(carrot, counter)
        As soon as you have cut the onion, pick up a dish. -> pickup(dish)
        Cut the bean when the board is available, then bring it over. -> cut(bean); place(bean~slices, counter)
        A: Whenever you are free, boil the egg. -> cook(egg)
        Since the oven is full, put the egg on the counter. -> place(egg, counter)
        """,
    "prohibitions": r"""
        Don't put the onion in the pot. ->
        Do not cut the potato. ->
        Please don't pick up another egg. ->
        Never put the dish in the oven. ->
        Please avoid cutting the tomato. ->
        Stop cutting the carrot. ->
        You don't need to cut the potato. ->
        You should not place the egg on the counter. ->
        You must not deliver the soup yet. ->
        You shouldn't bake it. ->
        No need to bring a dish. ->
        Hold off on cutting the onion. ->
        Please refrain from cooking the egg. ->
        Make sure not to cut the pumpkin. ->
        Be careful not to put the egg in the oven. ->
        Don't cut the potato, just put it on the counter. -> place(potato, counter)
        Cut the potato, but don't put it in the oven. -> cut(potato)
        Bring me the potato instead of cutting it. -> place(potato, counter)
        Deliver the soup rather than putting it on the counter. -> deliver(product)
        Place the egg on the counter without cutting it. -> place(egg, counter)
        Don't forget to cut the potato. -> cut(potato)
        Don't hesitate to pick up a dish. -> pickup(dish)
        Don't cut the onion or put it in the pot. ->
        Instead of picking up an onion, pick up a carrot. -> pickup(carrot)
        You can't put the egg in the oven. ->
        Skip cutting the tomato. ->
        """,
    "gerund chains": r"""
        Please proceed with picking up the taro, cutting it, and placing it on the counter. -> pickup(taro); cut(taro); place(taro~slices, counter)
        Start by picking up a tomato and cutting it. -> pickup(tomato); cut(tomato)
        A: You can help by taking the egg from the pot and delivering it. -> pickup(egg, pot); deliver(egg)
        Continue cutting the potato and then bring it to me. -> cut(potato); place(potato~slices, counter)
        Would you mind slicing the onion and passing it to me? -> cut(onion); place(onion~slices, counter)
        A: Please go on with putting the corn in the pot and cooking it. -> put(corn, pot); cook(corn)
        How about cutting the carrot? -> cut(carrot)
        A: Begin baking the pumpkin slices. -> bake(pumpkin~slices)
        Try placing the pea on the counter. -> place(pea, counter)
        Please finish cutting the bell pepper. -> cut(bell_pepper)
        A: I'm picking up the egg, placing it on the counter, and getting a dish. ->
        Picking up the egg now, putting it in the pot, and starting to cook. ->
        Thanks for picking up the potato and cutting it. ->
        After cutting the potato, place it on the counter. -> place(potato~slices, counter)
        I see you're cutting the onion and placing it on the counter. ->
        A: Thank you for cooking the egg and delivering it! ->
        Proceed with slicing the zucchini. -> cut(zucchini)
        """,
    "numbered lists in a line": r"""
        Please: 1) Pick up an onion, 2) Cut it, 3) Place it on the counter. -> pickup(onion); cut(onion); place(onion~slices, counter)
        Do this: (1) get a carrot from the ingredient dispenser (2) slice it on the board. -> pickup(carrot, ingredient_dispenser); cut(carrot, chopping_board)
        1. Pick up a tomato 2. Cut it 3. Bring it to me -> pickup(tomato); cut(tomato); place(tomato~slices, counter)
        Your tasks: 1) cut the potato 2) fetch a dish. -> cut(potato); pickup(dish)
        I need you to: 1) pick up the egg; 2) place it on the counter. -> pickup(egg); place(egg, counter)
        Step 1: pick up the pea. Step 2: put it in the blender. -> pickup(pea); put(pea, blender)
        I will: 1) cook the egg, 2) deliver it. ->
        The recipe is: 1) pick up an egg, 2) boil it, 3) serve it. ->
        The recipe for the soup is simple: bake the slices, then cook them in the pot and serve. ->
        Here are the steps: 1. Cut the potato. 2. Bake it. 3. Cook it in the pot. ->
        The recipe goes like this: cut the corn, boil it. Please cut the corn first. -> cut(corn)
        - Pick up a bean\n- Place it on the counter -> pickup(bean); place(bean, counter)
        Next:\n1) Cut the onion\n2) Place it on the counter -> cut(onion); place(onion~slices, counter)
        """,
    "processes started": r"""
        A: Put the potato slices in the oven and start the baking process. -> put(potato~slices, oven); bake(potato~slices)
        A: Please start the cooking process for the egg. -> cook(egg)
        A: Place the corn in the pot and initiate cooking. -> put(corn, pot); cook(corn)
        A: Put the carrot in the oven and begin the 3-timestep baking process. -> put(carrot, oven); bake(carrot)
        A: Use the bake action on the pumpkin. -> bake(pumpkin)
        A: Put the egg in the pot to start boiling. -> put(egg, pot); cook(egg)
        A: Place the taro in the oven to bake for 3 timesteps. -> put(taro, oven); bake(taro)
        A: Place the taro in the oven for baking. -> put(taro, oven)
        Put the bean in the blender and start stirring. -> put(bean, blender); stir(bean)
        I'm starting the baking process now. ->
        Please wait for the baking process to complete. ->
        Wait for the egg to cook. ->
        Please wait 3 timesteps for the soup to finish cooking. ->
        A: Start cooking once the egg is in the pot. -> cook(egg)
        A: You can start the cooking now, the corn is in the pot. -> cook(corn)
        The cooking process will take 3 timesteps. ->
        Perform the cut action on the carrot. -> cut(carrot)
        A: Please cook the boiled egg in the pot. -> cook(egg, pot)
        """,
    "slices and what they are of": r"""
        Pick up the potato, cut it, and place the slices on the counter. -> pickup(potato); cut(potato); place(potato~slices, counter)
        I have sliced the zucchini. Please bake it. -> bake(zucchini~slices)
        A: I cut the carrot into slices. Pick them up and put them in the oven. -> pickup(carrot~slices); put(carrot~slices, oven)
        Cut the potato into potato slices. -> cut(potato)
        Cut it on the board to make mushroom slices. -> cut(chopping_board)
        Please prepare the onion slices. -> cut(onion)
        Please prepare a dish. -> pickup(dish)
        Bring me the chopped_onion. -> place(onion~slices, counter)
        Put the sliced bell peppers in the oven. -> put(bell_pepper~slices, oven)
        After cutting the mushroom, put the slices in the oven. -> put(mushroom~slices, oven)
        Pick up the baked pumpkin slices. -> pickup(baked(pumpkin~slices))
        Bring me a dish for the potato soup. -> place(dish, counter)
        Place the carrot near the pot. -> place(carrot, counter)
        """,
    "other ways to ask": r"""
        Make sure you cut the potato. -> cut(potato)
        Please ensure the tomato is cut on the board. -> cut(tomato, chopping_board)
        Make sure the egg is placed on the counter. -> place(egg, counter)
        Make sure the oven is ready. ->
        Feel free to pick up a dish. -> pickup(dish)
        Go ahead and cut the onion. -> cut(onion)
        Why don't you fetch a dish? -> pickup(dish)
        Could you please slice the tomato for me? -> cut(tomato)
        Assistant, can you bring me an egg? -> place(egg, counter)
        Assistant can you cut the potato -> cut(potato)
        I suggest you cut the carrot. -> cut(carrot)
        I think you should pick up a dish. -> pickup(dish)
        It would be great if you could cut the pumpkin. -> cut(pumpkin)
        I'll need you to cut the potato. -> cut(potato)
        You'll need to slice the tomato on the board. -> cut(tomato, chopping_board)
        You have to bring me the egg. -> place(egg, counter)
        Requesting assistant to pick up a dish. -> pickup(dish)
        Remember to cut the onion. -> cut(onion)
        Pick up and cut the carrot. -> pickup(carrot); cut(carrot)
        Remove the onion from the chopping board. -> pickup(onion, chopping_board)
        We need to start over - please pick up a pumpkin. -> pickup(pumpkin)
        URGENT: cut the POTATO now! -> cut(potato)
        **Assistant**, please cut the potato. [END] -> cut(potato)
        request('boil(pot0)') -> cook(pot)
        request('pickup(corn_slices, counter)'); request('start_baking(oven0)') -> pickup(corn~slices, counter); bake(corn~slices, oven)
        request('deliver_soup()') -> deliver(product)
        Prepare to pick up the egg. -> pickup(egg)
        It's time for you to deliver the soup. -> deliver(product)
        The assistant should fetch a dish. -> pickup(dish)
        Cut the onion at once. -> cut(onion)
        Cut the onion once more. -> cut(onion)
        Please get the carrot (the board is free) and cut it. -> pickup(carrot); cut(carrot)
        """,
    "questions, plans and reports": r"""
        A: Should I cut the potato and put it on the counter? ->
        A: Should you pick up the egg and boil it? ->
        A: Could you tell me if I should cut the onion? ->
        A: Please confirm whether I should pick up a dish. ->
        A: Can you guide me on how to cook the egg? ->
        A: Do you need me to cut the potato or fetch a dish? ->
        A: Let me know if you want me to slice the carrot. ->
        A: What should I do after I cut the potato? ->
        Did you put the egg on the counter? ->
        Have you cut the carrot yet? ->
        I'll pick up the egg, put it in the pot and cook it. ->
        I'm going to bake the taro and then serve it. ->
        I need to wait for the onion, then I'll ask you to get a carrot and cut it. ->
        We can take it out and serve it together. ->
        We'll bake the slices first, then cook them in the pot. ->
        You already cut the potato. ->
        You put the egg in the pot earlier. ->
        The potato has been cut and placed on the counter. ->
        I can handle the rest - just need to cook it then serve it. ->
        I'm waiting for you to pick up the potato and cut it. ->
        You can wait while I bake the taro and serve it. ->
        Good job cutting the onion and placing it on the counter! ->
        The egg needs to cook for 3 timesteps. ->
        Allow me to cook the egg and deliver it. ->
        A: I can pick up the egg, but I cannot put it in the pot. ->
        Please ignore the onion on the board. ->
        Stay ready with the dish. ->
        A: You're holding the soup and about to deliver it. ->
        """,
    "who does what": r"""
        Your job: cut the potato; mine: bake it. -> cut(potato)
        Assistant: cut potato. Chef: bake potato. -> cut(potato)
        Plan: you cut the potato, I bake it, you fetch a dish, I deliver. -> cut(potato); pickup(dish)
        Plan: 1) You pick up the egg and place it on the counter. 2) I cook it. 3) You bring a dish. -> pickup(egg); place(egg, counter); place(dish, counter)
        You: pickup(egg, ingredient_dispenser), place_obj_on_counter(). Me: put_obj_in_utensil(pot0), cook(pot0). -> pickup(egg, ingredient_dispenser); place(egg)
        I will do put_obj_in_utensil(pot0); cook(pot0) ->
        I'll take the egg, boil it, and you pick up a dish in the meantime. -> pickup(dish)
        Can you handle cutting the onion and I'll handle baking? -> cut(onion)
        A: The chef can pick up the egg; the assistant will get a dish. -> pickup(egg)
        First, I'll cook. Second, you deliver. -> deliver(product)
        Let's have you cut the potato while I get the oven. -> cut(potato)
        Don't put the potato slices in the pot; put them in the oven instead. -> put(potato~slices, oven)
        To cook the egg, place it in the pot first. -> put(egg, pot)
        Next step: slicing the potato on chopping_board0, then placing it on the counter. -> cut(potato, chopping_board); place(potato~slices, counter)
        Your next action should be to cut the potato. -> cut(potato)
        Clear the chopping board by placing the onion on the counter. -> place(onion, counter)
        I'll be waiting for the sliced carrot. Put it on the counter. -> place(carrot~slices, counter)
        Pick up the potato and the onion and cut them. -> pickup(potato); pickup(onion); cut(potato); cut(onion)
        A: Take the onion slices and put them into the oven with the mashed potato. -> pickup(onion~slices); put(onion~slices, oven)
        We need an egg: please fetch one. -> pickup(egg)
        A: Turn on the oven. -> bake(oven)
        Any chance you could cut the tomato? -> cut(tomato)
        It's best if you cut the tomato. -> cut(tomato)
        Let me know if you can cut the tomato. ->
        plz cut the potato & place it on the counter -> cut(potato); place(potato~slices, counter)
        Please be sure to put the bell_pepper_slices into oven0 and NOT pot0. -> put(bell_pepper~slices, oven)
        Wait for the oven and then take out the baked taro. -> pickup(baked(taro))
        """,
}  # fmt: skip
MESSAGES = [
    pytest.param(line.partition("->"), id=f"{cause}: {line.partition('->')[0].strip()}")
    for cause, lines in CAUSES.items()
    for line in lines.strip().splitlines()
]


def test_there_are_enough_messages():
    assert len(MESSAGES) >= 200


@pytest.mark.parametrize("line", MESSAGES)
def test_what_is_asked(line: tuple[str, str, str]):
    text, _, expected = (part.strip() for part in line)
    speaker = "assistant" if text.startswith("A:") else "chef"
    acts = [str(act) for act in read_with_rules(text.removeprefix("A:").strip().replace("\\n", "\n"), speaker)]
    for short, verb in SHORT.items():
        acts = [act.replace(f"{verb}(", f"{short}(", 1) for act in acts]
    assert acts == [act.strip() for act in expected.split(";") if act.strip()]
