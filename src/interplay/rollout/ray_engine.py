"""Tasks on a Ray cluster: the results of `local`, in the same order, computed wherever there is room."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from interplay.errors import InterplayError

ADDRESS = "INTERPLAY_RAY_ADDRESS"  # of a cluster; without it, Ray starts on this machine
RETRIES = 5  # of a task whose worker or machine was lost
WAITING = 2  # tasks under way for each slot: more would fill the cluster's memory with results that nobody has read

Task = TypeVar("Task")
Result = TypeVar("Result")


class RayEngine:
    """Runs tasks on a Ray cluster, each on one CPU.

    A task whose worker or machine is lost runs again elsewhere. Results come back in the order of the tasks, and no
    more than a few tasks a CPU are under way.
    """

    def __init__(self) -> None:
        try:
            import ray
            from ray.exceptions import RayError
        except ImportError as error:
            raise InterplayError("the engine 'ray' needs Ray: pip install 'interplay[ray]'") from error
        self._ray: Any = ray
        if not ray.is_initialized():
            try:
                ray.init(address=os.environ.get(ADDRESS), log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, ValueError, RuntimeError, RayError) as error:
                raise InterplayError(f"no Ray cluster at {os.environ.get(ADDRESS)!r} ({ADDRESS}): {error}") from error

    def slots(self) -> int:
        """Return the CPUs of the cluster."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield the results of a function for all tasks, in their order.

        Raises:
            InterplayError: What a task raised, or the cluster lost a task too often.
        """
        remote = self._ray.remote(num_cpus=1, max_retries=RETRIES)(lambda task: function(task))
        under_way: deque[Any] = deque()
        for task in tasks:
            under_way.append(remote.remote(task))
            if len(under_way) >= WAITING * self.slots():
                yield self._result(under_way.popleft())
        while under_way:
            yield self._result(under_way.popleft())

    def _result(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except self._ray.exceptions.RayError as error:
            raise InterplayError(f"the cluster lost a task {RETRIES + 1} times: {error}") from error
