"""Options that stand in an agent's name, as in `hanabi/hgroup-regular?scale=0.1`."""

import pytest

import interplay
from interplay import InterplayError
from interplay.agents.identity import content_hash
from interplay.agents.registry import recorded_agent


def test_options_in_a_name_are_those_of_the_call():
    named = interplay.agent("hanabi/hgroup-regular?scale=0.1")
    assert named.name == "hanabi/hgroup-regular?scale=0.1"
    assert content_hash(named) == content_hash(interplay.agent("hanabi/hgroup-regular", scale=0.1))
    assert content_hash(named) != content_hash(interplay.agent("hanabi/hgroup-regular"))


def test_a_trace_names_the_agent_with_its_options(tmp_path):
    name = "hanabi/hgroup-regular?scale=0.1"
    interplay.play("hanabi/2p", [name, "hanabi/hgroup"], episodes=1, out=tmp_path / "traces")
    (episode,) = interplay.read_traces(tmp_path / "traces")
    assert [seat.name for seat in episode.agents] == [name, "hanabi/hgroup"]
    assert content_hash(recorded_agent(name)) == episode.agents[0].hash


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("hanabi/hgroup-regular?scale", "name=value"),
        ("hanabi/hgroup-regular?", "name=value"),
        ("hanabi/hgroup-regular?scale=2", "from 0"),
        ("hanabi/hgroup-regular?skill=1", "skill"),
        ("hanabi/hgroup-regular?scale=abc", "cannot be made with the options 'scale=abc'"),
        ("hanabi/hgroup-regular?level=novice", "level"),
        ("hanabi/iggi?name=piers", "name"),
        ("sparta:hanabi/smart?foo=3", "foo"),
    ],
)
def test_options_that_cannot_be_read_are_refused(name, says):
    with pytest.raises(InterplayError, match=says):
        interplay.agent(name)


@pytest.mark.parametrize("name", ["policy.safetensors?greedy=true", "os:system?x=1"])
def test_data_names_no_file_or_code_by_options(name):
    with pytest.raises(InterplayError, match="registered"):
        recorded_agent(name)


@pytest.mark.parametrize("name", ["stay?action=out/policy.pkl", "greedy:trained/overcooked/x/sp-1?member=[1]"])
def test_data_gives_no_texts_as_options(name):
    with pytest.raises(InterplayError, match="numbers, true and false"):
        recorded_agent(name)
