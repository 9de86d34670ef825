"""Several processes that serve together: they are started, and started again when they end."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError

LOG = logging.getLogger("interplay.server")
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 10.0  # before a process is started again
HEALTHY_S = 60.0  # a process that ran for so long is started again at once
STOP_S = 20.0  # how long processes may take to stop
PR_SET_PDEATHSIG = 1


class Supervisor:
    """Runs a function in several processes until `stop` is called; those that end are started again.

    Args:
        work: A function at the top level of a module, which is called in each process with its arguments.
        arguments: The arguments of each process; their order gives the processes' numbers, from 1.
    """

    def __init__(self, work: Callable[..., None], arguments: Sequence[tuple[Any, ...]]):
        self._work, self._arguments = work, arguments
        self._context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
        self._processes: dict[int, BaseProcess] = {}
        self._started: dict[int, float] = {}
        self._waits = dict.fromkeys(range(1, len(arguments) + 1), FIRST_WAIT_S)
        self._over = threading.Event()

    def run(self) -> None:
        """Start all processes, and start again those that end, until `stop` is called."""
        for number in self._waits:
            self._start(number)
        while not self._over.is_set():
            sentinels = [process.sentinel for process in self._processes.values()]
            multiprocessing.connection.wait(sentinels, timeout=0.2)
            for number, process in list(self._processes.items()):
                if not process.is_alive() and not self._over.is_set():
                    self._restart(number, process)
        self._stop_all()

    def stop(self) -> None:
        """Let `run` stop all processes and return."""
        self._over.set()

    def _start(self, number: int) -> None:
        process = self._context.Process(
            target=_run_child, args=(os.getpid(), self._work, self._arguments[number - 1]), name=f"worker {number}"
        )
        process.start()
        self._processes[number], self._started[number] = process, time.monotonic()

    def _restart(self, number: int, process: BaseProcess) -> None:
        lived = time.monotonic() - self._started[number]
        LOG.warning("worker %d ended (%s): it is started again", number, process.exitcode)
        if lived > HEALTHY_S:
            self._waits[number] = FIRST_WAIT_S
        self._over.wait(self._waits[number])
        self._waits[number] = min(2 * self._waits[number], LONGEST_WAIT_S)
        if not self._over.is_set():
            self._start(number)

    def _stop_all(self) -> None:
        for process in self._processes.values():
            if process.is_alive():
                process.terminate()
        until = time.monotonic() + STOP_S
        for process in self._processes.values():
            process.join(max(0.1, until - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join(5)


def _run_child(parent: int, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Run in the new process: it ends when its parent does, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everyone; the parent stops us
    work(*arguments)


class Nginx:
    """nginx in front of the processes, run by us.

    Args:
        config: Its configuration file.

    Raises:
        InterplayError: There is no nginx, or it does not take the file.
    """

    def __init__(self, config: Path):
        command = ["nginx", "-p", str(config.parent), "-c", str(config), "-e", "stderr"]
        try:
            tried = subprocess.run([*command, "-t"], capture_output=True, text=True)
        except FileNotFoundError:
            raise InterplayError(
                "several workers need nginx in front of them: install it, or use --proxy-config"
            ) from None
        if tried.returncode:
            raise InterplayError(f"nginx does not take {config}: {tried.stderr.strip()[-500:]}")
        self._process = subprocess.Popen([*command, "-g", "daemon off;"])

    def stop(self) -> None:
        """Stop nginx."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
