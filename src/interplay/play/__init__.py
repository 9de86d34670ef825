"""Episodes: line-ups, seats, compiled and stepwise rollouts.

The room shares its name with the library's `interplay.play(game, agents, ...)`, so it can be called as that.
"""

import sys

from interplay import CallableRoom

sys.modules[__name__].__class__ = CallableRoom
