"""A decorator for methods of a game that are fast from plain Python and are inlined in compiled programs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax


class compiled:  # noqa: N801 - used as a decorator
    """Compile a method once per game. Inside another compiled program it is inlined."""

    def __init__(self, *static: int):
        self._static = static

    def __call__(self, method: Callable[..., Any]) -> Any:
        """Wrap a method."""
        return _Compiled(method, self._static)


class _Compiled:
    def __init__(self, method: Callable[..., Any], static: tuple[int, ...]):
        self._method, self._static = method, static
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, game: Any, owner: type | None = None) -> Any:
        if game is None:
            return self
        bound = jax.jit(functools.partial(self._method, game), static_argnums=self._static, inline=True)
        game.__dict__[self._name] = bound  # found before this descriptor from now on
        return bound
