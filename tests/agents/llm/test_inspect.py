"""The kitchen as an Inspect task, offline with Inspect's own mock model."""

import json

import pytest

from interplay.traces import TraceSet, verify

inspect_ai = pytest.importorskip("inspect_ai", reason="pip install 'interplay[inspect]'")


def test_the_kitchen_runs_as_an_inspect_task_with_model_roles(tmp_path):
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from interplay.llm.inspect_task import kitchen

    chef = {"analysis": "", "plan": ["wait(2)"], "say": "Please bring me an egg."}
    helper = {"analysis": "", "plan": ["pickup(egg, ingredient_dispenser)", "place_obj_on_counter()"], "say": ""}

    def mock(answer):
        # With usage given, the mock need not fetch a tokenizer: the test stays offline.
        output = ModelOutput.from_content("mockllm", json.dumps(answer))
        output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        outputs = [output.model_copy(deep=True) for _ in range(60)]
        return get_model("mockllm/model", custom_outputs=outputs, memoize=False)

    (log,) = evaluate(
        kitchen(levels="1", episodes=1, horizon=8, out=str(tmp_path / "traces")),
        model="mockllm/model",
        model_roles={"chef": mock(chef), "assistant": mock(helper)},
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    (sample,) = log.samples
    assert sample.scores["delivered"].value["success"] == 0
    assert sample.scores["delivered"].value["steps"] == 8
    assert any("Please bring me an egg." in str(m.content) for m in sample.messages)
    traces = TraceSet.open(tmp_path / "traces")
    assert verify(traces).check().episodes == 1
    calls = [e.payload for e in traces[0].events if e.kind == "call"]
    assert {c["model"] for c in calls} == {"inspect/chef", "inspect/assistant"}
    assert all(c["parse_ok"] for c in calls)
    deeds = [v["verb"] for e in traces[0].events if e.kind == "verdict" for v in [e.payload] if v["ok"]]
    assert "pickup" in deeds
