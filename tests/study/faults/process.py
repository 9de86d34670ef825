"""`interplay study serve` as its own process, and a study for it that is short but has everything."""

import os
import signal
import socket
import subprocess
import sys
import time

import httpx

from tests.study.texts import AGREE, FIVE_EUROS, QUIZ, TWO_PARTNERS, consent, game, rounds, study

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
RIGHT = {"sum": "2"}  # the answers of the quiz
CARDS = game("cards", "cards", "wild")
STUDY = study(
    "faulty",
    QUIZ,
    rounds(
        "{id: liked, type: likert, scale: agree, label: Did you like it}",
        "{id: why, type: text, label: Why}",
        title="Round",
    ),
    CARDS,
    scales=AGREE,
    games="""
  kitchen: {game: overcooked/cramped_room, options: {horizon: 45}, tick_hz: 30, countdown_s: 0}
  cards: {game: hanabi/2p, seat: alternate, partner_delay_s: 0}""",
    **TWO_PARTNERS,
    first=consent("3"),
    after={"end": "Thanks", "payment": FIVE_EUROS, "completion": "{recruiter: prolific}"},
)
WITHOUT_CARDS = STUDY.replace(f"  - {CARDS}\n", "").replace(
    "  cards: {game: hanabi/2p, seat: alternate, partner_delay_s: 0}\n", ""
)


class Process:
    """A real server that can be killed and started again at the same address."""

    def __init__(self, folder, address, text=STUDY):
        (folder / "study.yaml").write_text(text)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.command = [sys.executable, "-m", "interplay.cli.main", "study", "serve", str(folder / "study.yaml")]
        self.command += ["--database", address, "--host", "0.0.0.0", "--port", str(self.port), "--batch", "4"]
        # What the first start compiles, the next ones find: starting is not what is tested here.
        self.environment = os.environ | {
            "JAX_COMPILATION_CACHE_DIR": str(folder.parent / "compiled"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        self.log = folder / "server.log"
        self.start()

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen(self.command, cwd=ROOT, stderr=log, stdout=log, env=self.environment)
        for _ in range(2400):
            assert self.process.poll() is None, self.log.read_text()
            try:
                if httpx.get(f"{self.url}/health").status_code == 200:
                    return self
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()

    def failures(self):
        """Lines of the log that tell of something unforeseen."""
        return [line for line in self.log.read_text().splitlines() if "Traceback" in line or "ERROR" in line]
