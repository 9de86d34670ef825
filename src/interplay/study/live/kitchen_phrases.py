"""All phrases of the kitchen, by their English, with the Chinese translation."""

from __future__ import annotations

import re
from collections.abc import Mapping

SLOT = re.compile(r"\{(\w+)\}")

_ACTS = {
    "Take {thing} from the {place}": "从{place}拿{thing}",
    "Take {thing}": "拿{thing}",
    "Take something from the {place}": "从{place}拿东西",
    "Put {thing} on a counter": "把{thing}放到台面上",
    "Put {thing} into the {place}": "把{thing}放进{place}",
    "Fill the dish from the {place}": "从{place}盛到盘子里",
    "Serve what you hold": "上手中的菜",
    "Serve it": "上菜",
    "Wait": "等待",
    "Wait {number} steps": "等待 {number} 步",
    "Cook what is in the {place}": "煮{place}里的东西",
    "Bake what is in the {place}": "烤{place}里的东西",
    "Cut what is in the {place}": "切{place}上的东西",
    "Blend what is in the {place}": "搅拌{place}里的东西",
    "Cook": "煮",
    "Bake": "烤",
    "Cut": "切",
    "Blend": "搅拌",
    "it": "它",
    "Please: {act}.": "请：{act}。",
}
_RECIPES = {
    "Cook {things} in the {place}: gives {food}": "在{place}里煮{things}：得到{food}",
    "Bake {things} in the {place}: gives {food}": "在{place}里烤{things}：得到{food}",
    "Cut {things} in the {place}: gives {food}": "在{place}上切{things}：得到{food}",
    "Blend {things} in the {place}: gives {food}": "在{place}里搅拌{things}：得到{food}",
    "Fill a dish with it and serve it": "盛到盘子里并上菜",
    "Take it and serve it": "拿起并上菜",
}
_MADE = {
    "boiled {food}": "煮{food}",
    "baked {food}": "烤{food}",
    "mashed {food}": "{food}泥",
    "{food} slices": "{food}片",
    "{food} soup": "{food}汤",
    "{food} stew": "炖{food}",
    "{food} patty": "{food}饼",
    "{food} on a dish": "盘装{food}",
    "{one} and {other}": "{one}和{other}",
}
_FOODS = {
    "apple": "苹果",
    "carrot": "胡萝卜",
    "onion": "洋葱",
    "potato": "土豆",
    "tofu": "豆腐",
    "bell pepper": "甜椒",
    "sweet potato": "红薯",
    "egg": "鸡蛋",
    "mushroom": "蘑菇",
    "pumpkin": "南瓜",
    "corn": "玉米",
    "green bean": "四季豆",
    "lentil": "扁豆",
    "eggplant": "茄子",
    "chickpea": "鹰嘴豆",
    "zucchini": "西葫芦",
    "beef": "牛肉",
    "peanut": "花生",
    "chicken": "鸡肉",
    "spinach": "菠菜",
    "coconut": "椰子",
    "broccoli": "西兰花",
    "bean": "豆子",
    "cauliflower": "花椰菜",
    "pea": "豌豆",
    "romaine lettuce": "长叶生菜",
    "tomato": "番茄",
    "taro": "芋头",
    "green pea": "青豆",
    "dish": "盘子",
}
_PLACES = {
    "ingredients": "食材柜",
    "dishes": "盘子柜",
    "hatch": "上菜口",
    "pot": "锅",
    "oven": "烤箱",
    "chopping board": "砧板",
    "blender": "搅拌机",
    "counter": "台面",
    "chef": "主厨",
    "assistant": "助手",
}
_PICTURE = {
    "food": "食材",
    "board": "砧板",
    "serve": "上菜",
    "done": "完成",
    "{number} left": "剩 {number} 步",
    "order: {dish}": "订单：{dish}",
    "order: known to the {role}": "订单：{role}知道",
}
_IN_WORDS = {
    "Step {number} of {all}.": "第 {number} 步，共 {all} 步。",
    "{who} holds {thing}.": "{who}拿着{thing}。",
    "{who} (you) holds {thing}.": "{who}（您）拿着{thing}。",
    "nothing": "无",
    "{place}: empty.": "{place}：空。",
    "{place}: {things}, not started.": "{place}：{things}，尚未开始。",
    "{place}: {things}, {number} steps left.": "{place}：{things}，还需 {number} 步。",
    "{place}: {things}, done.": "{place}：{things}，已完成。",
    "On counters: {things}.": "台面上：{things}。",
}
_REFUSALS = {
    "this cannot be done now: {why}": "现在不能这样做：{why}",
    "somebody is in the way": "有人挡住了路",
    "the text is not of the form verb(argument, ...)": "无法识别的操作",
    "no macro action has this verb": "没有这种操作",
    "too many, too few or unreadable arguments": "操作不完整",
    "the role does not have this verb": "您的角色不能这样做",
    "nothing in this kitchen has this name": "厨房里没有这种东西",
    "no station has this name, or it is of the wrong kind": "没有这个地方",
    "the cook cannot come to stand before the place": "走不到那里",
    "the cook holds something already": "手里已经拿着东西",
    "the cook holds nothing, or not what it takes": "手里没有所需的东西",
    "the object is not at the place": "那里没有这样东西",
    "the utensil is still working, or was not started": "器具还在工作，或尚未开始",
    "the food can only be filled into a dish": "这种食物只能盛到盘子里",
    "there is nothing in the utensil": "器具是空的",
    "the utensil takes no more": "器具已满",
    "the utensil works, or holds what it made": "器具正在工作，或里面有成品",
    "the utensil does not take such a thing": "器具不能放这种东西",
    "every counter in reach is taken": "够得着的台面都满了",
}
PHRASES: Mapping[str, Mapping[str, str]] = {
    phrase: {"zh": chinese}
    for group in (_ACTS, _RECIPES, _MADE, _FOODS, _PLACES, _PICTURE, _IN_WORDS, _REFUSALS)
    for phrase, chinese in group.items()
}
