"""Conditions on earlier answers: a few comparisons, read by a parser that knows nothing else.

`familiarity >= 4 and 'bots' in experience` holds if those answers do. A name is the last answer to that question; an
id that is no Python name is written `answer('b-1')`. `score` is that of the last game, `scores` those of all games that
count, `turn` that of the innermost repeat. An answer that is missing makes a comparison false.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

LONGEST = 500
FACTS = frozenset({"score", "scores", "turn"})  # what is known beside answers
_COMPARE: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.In: ("in", lambda a, b: a in b),
    ast.NotIn: ("not in", lambda a, b: a not in b),
}
_OPERATORS = dict(_COMPARE.values())
Tree = list[Any]  # ["and", ...], ["or", ...], ["not", x], [comparison, x, y], ["name", id] or ["value", constant]


def check_condition(text: str) -> str:
    """Return a condition, or raise a `ValueError` that says what cannot be read."""
    parse(text)
    return text


def parse(text: str) -> Tree:
    """Return a condition as a tree of lists, as the front end evaluates it.

    Raises:
        ValueError: It is too long, or holds more than comparisons of names and constants.
    """
    if len(text) > LONGEST:
        raise ValueError(f"a condition has at most {LONGEST} characters")
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(
            f"the condition {text!r} cannot be read; one is `familiarity >= 4 and 'bots' in how`"
        ) from None
    return _tree(body, text)


def _tree(node: ast.AST, text: str) -> Tree:
    match node:
        case ast.BoolOp():
            return ["and" if isinstance(node.op, ast.And) else "or", *(_tree(part, text) for part in node.values)]
        case ast.UnaryOp(op=ast.Not()):
            return ["not", _tree(node.operand, text)]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return ["value", -number]
        case ast.Compare() if all(type(op) in _COMPARE for op in node.ops):
            sides = [_tree(side, text) for side in (node.left, *node.comparators)]
            pairs = [[_COMPARE[type(op)][0], sides[i], sides[i + 1]] for i, op in enumerate(node.ops)]
            return pairs[0] if len(pairs) == 1 else ["and", *pairs]
        case ast.Name():
            return ["name", node.id]
        case ast.Call(func=ast.Name(id="answer"), args=[ast.Constant(value=str() as name)], keywords=[]):
            return ["name", name]
        case ast.Constant(value=str() | int() | float() | bool()):
            return ["value", node.value]
        case ast.List() | ast.Tuple():
            values = [_tree(part, text) for part in node.elts]
            if all(value[0] == "value" for value in values):
                return ["value", [value[1] for value in values]]
    raise ValueError(f"the condition {text!r} may only compare answers with values, joined by and, or, not")


def names_in(text: str) -> set[str]:
    """Return the names that a condition uses."""

    def walk(tree: Tree) -> set[str]:
        if tree[0] == "name":
            return {tree[1]}
        return set() if tree[0] == "value" else set().union(*map(walk, tree[1:]))

    return walk(parse(text))


def holds(text: str | None, facts: Mapping[str, Any]) -> bool:
    """Return whether a condition holds of the facts by name; no condition always holds."""
    return text is None or bool(_value(parse(text), facts))


def with_facts(text: str, facts: Mapping[str, Any], open_names: set[str]) -> Tree:
    """Return a condition for the browser: names but those of the open page are replaced by what is known."""

    def fill(tree: Tree) -> Tree:
        if tree[0] == "name":
            return tree if tree[1] in open_names else ["value", facts.get(tree[1])]
        return tree if tree[0] == "value" else [tree[0], *map(fill, tree[1:])]

    return fill(parse(text))


def _value(tree: Tree, facts: Mapping[str, Any]) -> Any:
    match tree[0]:
        case "value":
            return tree[1]
        case "name":
            return facts.get(tree[1])
        case "not":
            return not _value(tree[1], facts)
        case "and":
            return all(_value(part, facts) for part in tree[1:])
        case "or":
            return any(_value(part, facts) for part in tree[1:])
    left, right = _value(tree[1], facts), _value(tree[2], facts)
    if left is None or right is None:
        return False
    try:
        return _OPERATORS[tree[0]](left, right)
    except TypeError:  # a text compared with a number
        return False
