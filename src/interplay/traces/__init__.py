"""What happened: trace sets, their replay, SQL over them, and their export."""

from interplay.traces.columns import same
from interplay.traces.export import episodes_csv, read_jsonl, write_jsonl
from interplay.traces.replay import Replay, ReplayBatch, game_of, replay, replay_batches, replays, states_at
from interplay.traces.schema import FORMAT_VERSION, Manifest
from interplay.traces.sql import query
from interplay.traces.store import TraceSet, Writer
from interplay.traces.verify import VerifyProblem, VerifyReport, verify

__all__ = [
    "FORMAT_VERSION",
    "Manifest",
    "Replay",
    "ReplayBatch",
    "TraceSet",
    "VerifyProblem",
    "VerifyReport",
    "Writer",
    "episodes_csv",
    "game_of",
    "query",
    "read_jsonl",
    "replay",
    "replay_batches",
    "replays",
    "same",
    "states_at",
    "verify",
    "write_jsonl",
]
