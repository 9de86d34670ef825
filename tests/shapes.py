"""What functions of the games say of the shapes of their arrays is checked at every call (by jaxtyping with beartype).

With `SHAPES=check python -m pytest ...`, which `make test-shapes` calls on the tests of the games.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
from beartype import BeartypeConf, beartype
from jaxtyping import install_import_hook

CHECKED = ("interplay.games.hanabi", "interplay.games.overcooked", "interplay.games.rescue")
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))  # an int is a float, too, as for type checkers


def check_shapes() -> None:
    """Check the packages from now on; they must not have been imported yet."""
    jax.tree_util.register_dataclass = _register  # type: ignore[assignment]
    install_import_hook(CHECKED, "tests.shapes.checked")


def _register(cls: type, data_fields: Sequence[str], meta_fields: Sequence[str]) -> type:
    """Register a record that JAX puts together again without a call of its constructor.

    Under vmap the arrays of a record have an axis more, and within JAX a record may hold anything; only what a program
    makes itself has the shapes that it says.
    """
    data, meta = tuple(data_fields), tuple(meta_fields)

    def apart(record: object) -> tuple[tuple, tuple]:
        return tuple(getattr(record, name) for name in data), tuple(getattr(record, name) for name in meta)

    def apart_by_name(record: object) -> tuple[tuple, tuple]:
        leaves, rest = apart(record)
        return tuple(zip(map(jax.tree_util.GetAttrKey, data), leaves, strict=True)), rest

    def together(rest: tuple, leaves: Sequence) -> object:
        made = object.__new__(cls)
        vars(made).update(zip(data, leaves, strict=True), **dict(zip(meta, rest, strict=True)))
        return made

    jax.tree_util.register_pytree_with_keys(cls, apart_by_name, together, apart)
    return cls
