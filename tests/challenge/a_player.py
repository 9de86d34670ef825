"""A player made of a plain function."""

import numpy as np

from interplay.agents.api import FunctionPlayer


def player():
    return FunctionPlayer(lambda observation, legal: int(np.flatnonzero(legal)[-1]), encoding="hle")
