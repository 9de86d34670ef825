"""What holds of any talk: nothing breaks the reader, one action settles one request, and time has no zero."""

from __future__ import annotations

import dataclasses
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.metrics.communication import CATEGORIES, REASONS, AuditSettings, Transcript, judge, rows
from tests.metrics.communication.scripts import transcript
from tests.metrics.communication.test_reader import acts, read

ASKED = (
    "Cut the potato.", "Pick up a potato and cut it.", "Bring me the potato.", "Place it on the counter.",
    "request('cut(chopping_board)')", "What a day!", "I will cook.", "Please wait.", "Cut the carrot.", "Let's cut it.",
)  # fmt: skip
DONE = (
    "does cut potato chopping_board potato#1", "does pickup potato ingredient_dispenser potato#1",
    "does place_obj_on_counter potato~slices counter potato#1", "does cut carrot chopping_board carrot#2",
    "does pickup potato ingredient_dispenser potato#3", "fails cut chopping_board utensil_empty",
    "plans pickup(potato, ingredient_dispenser); cut()",
)  # fmt: skip
SCRAPS = (
    "you", "i", "please", "pick", "up", "cut", "the", "potato", "egg", "it", "and", ",", ".", "?", "request(", ")", "'",
    "pot", "counter", "chef", "assistant", "to", "me", "don't",
)  # fmt: skip
lines = st.one_of(
    st.sampled_from([f"chef: {words}" for words in ASKED]),
    st.sampled_from([f"assistant {what}" for what in DONE]),
    st.sampled_from(["assistant: Chef, pick up the potato slices.", "chef does pickup potato~slices counter potato#1"]),
)


@st.composite
def episodes(draw) -> Transcript:
    t, script = 0, []
    for line in draw(st.lists(lines, max_size=14)):
        t += draw(st.integers(0, 6))
        script.append(f"{t} {line}")
    return transcript("\n".join(script), length=200)


@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(SCRAPS)).map(" ".join)))
@settings(max_examples=150, deadline=None)
def test_no_words_break_the_reader(words):
    found = read(words)
    assert found == read(words)
    assert all(unit.act.verb not in ("wait", "request") for unit in found.units)


@given(episodes())
@settings(max_examples=120, deadline=None)
def test_one_action_settles_one_request_and_was_the_partners(episode):
    found = judge(episode, AuditSettings(window=10))
    assert all(j.category in CATEGORIES and j.reason in REASONS for j in found)
    followed = [j for j in found if j.followed]
    assert max(Counter(j.settled.when for j in followed if j.settled).values(), default=1) == 1
    for j in followed:
        assert j.unit is not None
        assert j.settled is not None
        assert j.settled.agent == j.unit.to != j.message.agent
        assert j.message.when < j.settled.when
        assert j.settled.t - j.message.t <= 10


@given(episodes(), st.integers(1, 50))
@settings(max_examples=60, deadline=None)
def test_a_later_start_changes_nothing(episode, by):
    later = dataclasses.replace(
        episode,
        events=tuple(dataclasses.replace(e, t=e.t + by) for e in episode.events),
        length=episode.length + by,
    )
    first, second = ([(j.category, j.reason) for j in judge(e, AuditSettings(window=10))] for e in (episode, later))
    assert first == second


@given(episodes())
@settings(max_examples=60, deadline=None)
def test_small_talk_changes_no_other_outcome(episode):
    chatter = [
        dataclasses.replace(e, seq=1000 + n, kind="message", agent=0, act=None, acts=(), text="What a day!")
        for n, e in enumerate(episode.events)
    ]
    mixed = dataclasses.replace(episode, events=tuple(sorted([*episode.events, *chatter], key=lambda e: e.when)))
    first, second = (
        [(j.unit, j.reason) for j in judge(e, AuditSettings(window=10)) if j.unit] for e in (episode, mixed)
    )
    assert first == second


@given(episodes())
@settings(max_examples=60, deadline=None)
def test_a_wider_window_never_follows_less_and_rates_are_shares(episode):
    narrow, wide = (sum(j.followed for j in judge(episode, AuditSettings(window=w))) for w in (3, 12))
    assert narrow <= wide
    shares = ("follow_rate", "follow_rate_all", "parsed_messages", "delayed_rate", "redundancy", "waste", "adr", "tes")
    for row in rows(episode, AuditSettings(window=10)):
        if row["metric"] in shares and row["value"] is not None:
            assert 0 <= row["value"] <= 1 + 1e-9, row


def test_the_reader_is_not_slow_on_long_talk():
    assert len(acts("Cut the potato. " * 2000)) == 1
