"""Arrays on the wire, and back: base64 for programs, plain lists for those who read along."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Literal

import numpy as np

from interplay.challenge.candidate_table import CandidateView
from interplay.errors import InterplayError

Arrays = Literal["base64", "lists"]


def pack(array: np.ndarray, how: Arrays) -> Any:
    """An array: nested lists, or its bytes with shape and type."""
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise InterplayError("this observation is no array of numbers and cannot be sent; read `text`")
    if how == "lists":
        return array.tolist()
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(np.ascontiguousarray(little).tobytes()).decode("ascii")
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def pack_tree(observation: Any, how: Arrays) -> Any:
    """An observation: an array, a record of arrays by the names of its fields, or text."""
    if isinstance(observation, str):
        return observation
    if is_dataclass(observation):
        return {f.name: pack_tree(getattr(observation, f.name), how) for f in fields(observation)}
    if isinstance(observation, Mapping):
        return {str(k): pack_tree(v, how) for k, v in observation.items()}
    return pack(observation, how)


def unpack_batch(values: Sequence[Any], like: Any) -> Any:
    """Many observations of the same form as `like`, a record of arrays or of their shapes, stacked."""
    if is_dataclass(like):
        parts = {f.name: unpack_batch([v[f.name] for v in values], getattr(like, f.name)) for f in fields(like)}
        return type(like)(**parts)  # type: ignore[call-arg, return-value]
    if isinstance(like, Mapping):
        return {k: unpack_batch([v[str(k)] for v in values], part) for k, part in like.items()}
    dtype, shape = np.dtype(like.dtype), (len(values), *like.shape)
    if values and isinstance(values[0], Mapping):  # as `pack` gives them
        data = b"".join(base64.b64decode(v["data"]) for v in values)
        return np.frombuffer(data, dtype.newbyteorder("<")).reshape(shape).astype(dtype)
    return np.array(values, dtype).reshape(shape)


def pack_view(view: CandidateView, how: Arrays) -> dict[str, Any]:
    """What the candidate's seats see at one time."""
    return {
        "t": view.t,
        "taken": {str(seat): action for seat, action in view.taken.items()},
        "seats": {
            str(seat): {
                "observation": pack_tree(observation, how),
                "legal": view.legal[seat].astype(int).tolist(),
                "turn": view.turn[seat],
            }
            for seat, observation in view.observations.items()
        },
    }
