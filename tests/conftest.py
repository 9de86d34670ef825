"""Shared by all tests: one compilation cache, so that a program compiled once is not compiled again."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

from interplay import trust

# Games of the tests, which their traces and configurations name: what `interplay.make` does for names that users type.
trust.admit(
    f"tests.training.toys:{name}"
    for name in ("Blind", "Match", "Meeting", "Recall", "Three", "Trio", "Turns", "TurnsRecall")
)
trust.admit(f"tests.traces.traces_toy:{name}" for name in ("Broken", "Fate", "Slow", "Toy"))

CACHE = Path(__file__).parent.parent / ".cache" / "jax"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

if os.environ.get("SHAPES") == "check":
    from tests.shapes import check_shapes  # after what JAX reads when it is imported

    check_shapes()

settings.register_profile("any machine", deadline=None)  # how fast an example runs is the machine's matter
settings.load_profile("any machine")
gc.set_threshold(20_000)  # tracing makes many objects that live; looking through them was a twentieth of the time

MOST_MAPPINGS = 25_000  # Linux allows a process 65,530; every compiled program takes several
MOST_MEMORY = 3 * 2**30  # bytes of a worker; two of them and the tests' own servers fit into 8 GiB


@pytest.fixture(autouse=True, scope="module")
def _few_programs():
    """A worker that has compiled thousands of programs lets go of them before the system refuses it more memory."""
    yield
    maps, memory = Path("/proc/self/maps"), Path("/proc/self/statm")
    if not maps.exists():
        return
    resident = int(memory.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    if resident > MOST_MEMORY or maps.read_text().count("\n") > MOST_MAPPINGS:
        import jax

        jax.clear_caches()
        gc.collect()
