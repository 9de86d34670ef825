"""The state of a house, and the meaning of its small integers.

Cells are numbered x * height + y, so a [cell] array reshaped to (width, height) is the map. Whatever lies in a cell
(debris, a fire, a victim, a tool) blocks the way.
"""

from __future__ import annotations

from jaxtyping import Array, Bool, Int

from interplay.games.records import record

ACTIONS = ("up", "down", "left", "right", "stay", "interact")
MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))  # (dx, dy) of each direction
STAY, INTERACT = 4, 5

FLOOR, WALL, DOOR, DANGER = range(4)  # in a DANGER cell only guarded agents and police can interact

ROLES = ("nurse", "firefighter", "police")
NURSE, FIREFIGHTER, POLICE = range(3)

TOOLS = ("kit", "extinguisher")
KIT, EXTINGUISHER = range(2)

USES = ("unused", "used-for-treatment", "passed-temporarily")  # the usage-linked states of a kit
UNUSED, USED, PASSED = range(3)

NOBODY = NOWHERE = -1

# Treatment is work: a step with a kit does 15 of the 300, so that it takes 20 steps; bare hands take 60 steps,
# and a fire in the room makes either five times as long (100 and 300).
WORK, WITH_KIT, BY_HAND, FIRE_FACTOR = 300, 15, 5, 5
REWARD = 10.0


@record
class RescueState:
    """The state of a house; rooms, roles and kinds of tools belong to the game."""

    time: Int[Array, ""]
    cell: Int[Array, " seat"]  # where each agent stands
    facing: Int[Array, " seat"]  # 0 up, 1 down, 2 left, 3 right
    held: Int[Array, " seat"]  # the tool in hand, or NOBODY
    guarding: Int[Array, " seat"]  # the seat that a police officer guards, or NOBODY
    terrain: Int[Array, " cell"]
    debris: Bool[Array, " cell"]
    burning: Bool[Array, " cell"]
    tool_cell: Int[Array, " tool"]  # where a tool lies, or NOWHERE when it is held
    tool_use: Int[Array, " tool"]  # of USES
    victim_cell: Int[Array, " victim"]
    known: Bool[Array, " victim"]  # the team knows where the victim lies
    work: Int[Array, " victim"]  # treatment done, of WORK
    treated_by: Int[Array, " victim"]  # the nurse who finished the treatment, or NOBODY
