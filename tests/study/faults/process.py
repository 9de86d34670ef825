"""`interplay study serve` as its own process, and a study for it that is short but has everything."""

import os
import signal
import socket
import subprocess
import sys
import time

import httpx

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
RIGHT = {"sum": "2"}  # the answers of the quiz
STUDY = """
name: faulty
title: Faulty
scales: {agree: {points: 5, left: disagree, right: agree}}
games:
  kitchen: {game: overcooked/cramped_room, options: {horizon: 45}, tick_hz: 30}
  cards: {game: hanabi/2p, seat: alternate, partner_delay_s: 0}
partners: {still: stay, wild: random}
designs:
  rounds: {factors: {partner: [still, wild]}, order: latin}
flow:
  - {kind: consent, id: consent, title: Consent, version: "3", checkboxes: [{id: agree, label: I agree}]}
  - kind: quiz
    id: quiz
    title: Quiz
    tries: 2
    questions:
      - id: sum
        type: choice
        label: How much is one and one
        options: [{value: "2", label: two}, {value: "3", label: three}]
        right_answer: "2"
  - kind: repeat
    id: rounds
    over: rounds
    pages:
      - kind: game
        id: game
        title: Round
        game: kitchen
        partner: $partner
        flags: [{id: odd, label: That was odd}]
      - kind: form
        id: after
        title: After
        questions:
          - {id: liked, type: likert, scale: agree, label: Did you like it}
          - {id: why, type: text, label: Why}
      - {kind: ranking, id: rank, title: Rank, of: rounds}
  - {kind: game, id: cards, title: Cards, game: cards, partner: wild}
end: Thanks
payment: {currency: EUR, formula: "5 + mean(scores)"}
completion: {recruiter: prolific}
"""
WITHOUT_CARDS = STUDY.replace("  - {kind: game, id: cards, title: Cards, game: cards, partner: wild}\n", "").replace(
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
