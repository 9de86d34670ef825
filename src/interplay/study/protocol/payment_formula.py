"""Payment formulas: a few names and functions, read by a parser that knows nothing else."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interplay.errors import InterplayError

NAMES = ("scores", "games")  # the scores of the games that count, and how many there were
OF_GAME = "scores_"  # prefix of a game's name: the scores of its games that count
LONGEST = 500
DEEPEST = 30  # levels of nested expressions
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _flat(values: Sequence[Any]) -> list[float]:
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


_CALLS: dict[str, Callable[..., Any]] = {
    "min": lambda *values: min(_flat(values), default=0.0),
    "max": lambda *values: max(_flat(values), default=0.0),
    "mean": lambda *values: _mean(_flat(values)),
    "sum": lambda *values: float(sum(_flat(values))),
    "count": lambda *values: float(len(_flat(values))),
    "round": lambda value, digits=0: round(value, int(digits)),
}


def check_formula(text: str) -> None:
    """Raise an `InterplayError` unless a formula gives an amount of at least 0 for various scores."""
    for scores in ([], [0.0], [25.0, 3.0]):
        value = evaluate(text, scores)
        if not value >= 0:
            raise InterplayError(f"the payment {text!r} is {value} for the scores {scores}: people cannot be charged")


def games_in(text: str) -> set[str]:
    """Return the names of the games that a formula uses."""
    try:
        names = [node.id for node in ast.walk(ast.parse(text.strip(), mode="eval")) if isinstance(node, ast.Name)]
    except (SyntaxError, ValueError, RecursionError):
        return set()
    return {name.removeprefix(OF_GAME) for name in names if name.startswith(OF_GAME)}


def evaluate(text: str, scores: Sequence[float], by_game: Mapping[str, Sequence[float]] | None = None) -> float:
    """Return the amount that a formula gives, in units of the currency, rounded to cents.

    Args:
        text: The formula.
        scores: The scores of all games that count.
        by_game: The same by the name of the game; games that were not played have no scores.

    Raises:
        InterplayError: The formula cannot be read, or does not give one amount.
    """
    if len(text) > LONGEST:
        raise InterplayError(f"a payment formula has at most {LONGEST} characters")
    names: dict[str, Any] = {"scores": [float(score) for score in scores], "games": float(len(scores))}
    for game in games_in(text):
        names[OF_GAME + game] = [float(score) for score in (by_game or {}).get(game, ())]
    try:
        tree = ast.parse(text.strip(), mode="eval")
        value = _value(tree.body, names, 0)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise InterplayError(f"the payment {text!r} is no formula: {error}") from None
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        raise InterplayError(
            f"the payment {text!r} cannot be worked out for the scores {list(scores)}: {error}"
        ) from None
    if isinstance(value, list) or value != value or value in (float("inf"), float("-inf")):
        raise InterplayError(f"the payment {text!r} is not one amount for the scores {list(scores)}")
    return round(float(value), 2)


def _value(node: ast.AST, names: Mapping[str, Any], depth: int) -> Any:
    if depth > DEEPEST:
        raise ValueError("too many brackets within brackets")
    inner = depth + 1
    match node:
        case ast.Constant(value=bool() | complex()):
            pass
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names, inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_number(left, names, inner), _number(right, names, inner))
        case ast.IfExp(test=ast.Compare(left=left, ops=[op], comparators=[right]), body=body, orelse=orelse) if (
            type(op) in _COMPARE
        ):
            true = _COMPARE[type(op)](_number(left, names, inner), _number(right, names, inner))
            # Both branches are evaluated, so that a mistake in either shows when the file is read.
            both = _value(body, names, inner), _value(orelse, names, inner)
            return both[0] if true else both[1]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _CALLS:
            return _CALLS[name](*(_value(argument, names, inner) for argument in arguments))
    raise ValueError(
        f"{ast.unparse(node)!r} is not understood; known are numbers, + - * /, A if B >= C else D, "
        f"{', '.join(NAMES)}, and {', '.join(_CALLS)}"
    )


def _number(node: ast.AST, names: Mapping[str, Any], depth: int) -> float:
    value = _value(node, names, depth)
    if isinstance(value, list):
        raise ValueError(f"{ast.unparse(node)!r} is a list of numbers, where one number is wanted")
    return value
