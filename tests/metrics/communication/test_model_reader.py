"""A model as the reader: what it answers is what was asked for, in any language, and replays from its journal."""

from __future__ import annotations

import json

import pytest

from interplay.agents.llm.chat import ModelRefusal
from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.response_cache import ResponseCache
from interplay.agents.llm.scripted.simple import Scripted
from interplay.cli.main import run as command
from interplay.metrics.communication import judge, parse_transcripts, write_transcripts
from interplay.metrics.communication.model_reader import ModelReader, read_by_model
from interplay.reports.communication import audit
from tests.metrics.communication.scripts import lines, transcript

FINNISH = "0 chef: Leikkaa peruna, jotta voin keittää sen.\n 3 assistant does cut potato board potato#1"


class Translator(Scripted):
    """Knows one sentence of Finnish."""

    name = "fake/translator"
    requests: tuple[str, ...] = ("cut(potato, chopping_board)",)
    asked = 0

    def answer(self, ask) -> str:
        type(self).asked += 1
        assert "Partner: assistant" in ask.text
        return json.dumps({"analysis": "a request", "requests": self.requests if "Leikkaa" in ask.text else []})


class Babbler(Scripted):
    name = "fake/babbler"

    def answer(self, ask) -> str:
        return "no JSON at all"


def reader(model: Scripted, journal: ResponseCache | None = None, offline: bool = False) -> ModelReader:
    pool = ModelPool(ResponseCache() if journal is None else journal, offline=offline)
    pool.add(model)
    return ModelReader(pool.model(model.name))


def test_other_languages_are_read():
    before = transcript(FINNISH)
    assert [j.category for j in judge(before)] == ["unstructured"]
    (after,), unread = read_by_model([before], reader(Translator()))
    assert unread == 0
    assert [(str(j.unit.act), j.category) for j in judge(after) if j.unit] == [
        ("cut(potato, chopping_board)", "effective")
    ]


def test_the_text_is_not_read_again_and_the_file_says_so():
    (after,), _ = read_by_model([transcript("0 chef: Cut the potato.")], reader(Translator()))
    assert [j.category for j in judge(after)] == ["unstructured"]
    written: list[str] = []
    write_transcripts([after], written.append)
    assert [j.category for j in judge(parse_transcripts(written)[0])] == ["unstructured"]


def test_an_answer_that_cannot_be_read_leaves_the_message_to_the_rules():
    found = audit([transcript("0 chef: Cut the potato.")], reader=reader(Babbler()))
    assert [row["request"] for row in found.judged] == ["cut(potato)"]
    assert found.reader_model == "fake/babbler (1 messages left to the rules)"


def test_readings_are_kept_and_replay_without_the_model(tmp_path):
    path = tmp_path / "readings.jsonl"
    Translator.asked = 0
    for _ in range(2):
        journal = ResponseCache(path)
        read_by_model([transcript(FINNISH)], reader(Translator(), journal))
        journal.close()
    assert Translator.asked == 1
    (after,), _ = read_by_model([transcript(FINNISH)], reader(Translator(), ResponseCache(path), offline=True))
    assert judge(after)[0].category == "effective"
    with pytest.raises(ModelRefusal):
        read_by_model([transcript("0 chef: Hyvää päivää.")], reader(Translator(), ResponseCache(path), offline=True))


def test_the_error_of_a_model_that_reads_is_not_known():
    found = audit([transcript(FINNISH)], reader=reader(Translator()))
    assert all(row["low_with_reader"] is None for row in found.summary("all"))
    assert "fake/translator" in found.report().html()


def test_on_the_command_line(tmp_path, capsys):
    source = tmp_path / "events.jsonl"
    source.write_text("\n".join(lines(FINNISH)), encoding="utf-8")
    thing = "tests.metrics.communication.test_model_reader:Translator"
    arguments = ["llm", "audit", str(source), "--reader", thing, "--reader-journal", str(tmp_path / "journal.jsonl")]
    assert command([*arguments, "--show", "judged", "--json"]) == 0
    assert [row["category"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["effective"]
    assert command(["llm", "audit", str(source), "--reader-offline"]) != 0
    assert "need --reader" in capsys.readouterr().err


def test_the_audit_prints_the_known_error_of_the_rules(tmp_path, capsys):
    roles = [{"name": "chef", "agent": "openai/gpt-4o"}, {"name": "assistant", "agent": "gpt-4o"}]
    source = tmp_path / "events.jsonl"
    source.write_text("\n".join(lines("0 chef: Cut the potato.", roles=roles)), encoding="utf-8")
    assert command(["llm", "audit", str(source), "--metrics", "follow_rate", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["model"] for row in told["reader"]} == {"gpt-4o", "claude-sonnet-4"}
    (row,) = told["rows"]
    assert row["mean"] == row["low_with_reader"] == 0 < row["high_with_reader"] < 0.1
    assert command(["llm", "audit", str(source)]) == 0
    printed = capsys.readouterr()
    assert "Known error of the reader" in printed.out
    assert "Requests are read by rules" in printed.err
