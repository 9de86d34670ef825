"""Who helps whom: causal links between agents' actions, their classes, and the rates built on them."""

from interplay.metrics.interdependence.count import count
from interplay.metrics.interdependence.records import (
    CLASSES,
    OUTCOMES,
    UNLIMITED,
    Interdependence,
    InterdependenceOptions,
    Link,
    Trigger,
    Window,
    windows,
)
from interplay.metrics.interdependence.rows import detail, rows, unused

__all__ = [
    "CLASSES",
    "OUTCOMES",
    "UNLIMITED",
    "Interdependence",
    "InterdependenceOptions",
    "Link",
    "Trigger",
    "Window",
    "count",
    "detail",
    "rows",
    "unused",
    "windows",
]
