"""The columns of the tables of a study's records."""

from __future__ import annotations

from typing import Literal

Format = Literal["csv", "parquet", "json"]


# By table: columns that older exports do not have.
LATER: dict[str, tuple[str, ...]] = {
    "participants": ("stopped_on",),
    "answers": ("first", "second", "counted", "place", "options", "first_s", "last_s", "changes"),
    "games": ("unattended",),
}
# Kinds of columns: text, integer, number, boolean, time (a text), json (any value; a text in CSV and Parquet).
COLUMNS: dict[str, dict[str, str]] = {
    "participants": {
        "participant": "text",
        "status": "text",  # new, active, done, screened, dropped, withdrawn, erased
        "language": "text",
        "page": "text",  # the page that is open; null once all is over
        "stopped_on": "text",  # the page on which someone stopped taking part, at the time `finished`
        "position": "integer",
        "pages": "integer",
        "created": "time",
        "consented": "time",
        "consent_version": "text",
        "consent_language": "text",
        "seen": "time",
        "finished": "time",
        "cells": "json",  # by use of a design: the number of the sequence, null where it is drawn
        "partners": "json",  # of the games that count, in the order in which they are met
        "recruited": "boolean",  # came with a recruiter's id
        "payment": "number",
        "code": "text",
        "paid": "time",
        "paid_amount": "number",
        "seed": "integer",
    },
    "answers": {
        "answer": "integer",  # answers of one page, sent together, have the same number
        "participant": "text",
        "page": "text",  # with the turns of the repeats around it: rounds.3.after
        "item": "text",  # the page in the file: after
        "turn": "integer",
        "partner": "text",  # with whom, where the page is about one partner (`protocol/about.py`)
        "setting": "text",  # where all games that it is about have the same
        "first": "text",  # of two partners that it is about
        "second": "text",
        "counted": "integer",  # in a repeat: the last game that it is about, as a number among those that count
        "after": "text",  # the page of the last game before
        "question": "text",
        "type": "text",  # of the question; consent and ranking for those pages
        "value": "json",  # a ranking is a list of partners, best first
        "attempt": "integer",  # at a quiz, from 1
        "passed": "boolean",
        "seconds": "number",  # on the page
        "place": "integer",  # of the question on its page, from 1
        "options": "json",  # in the order in which they were drawn; null where they stand as written
        "first_s": "number",  # from the page's opening to the first answer to the question
        "last_s": "number",  # and to the last change of it
        "changes": "integer",  # how often it was answered or changed
        "at": "time",
    },
    "games": {
        "game": "integer",
        "participant": "text",
        "page": "text",
        "item": "text",
        "turn": "integer",
        "setting": "text",
        "world": "text",  # the game by its registered name
        "partner": "text",
        "agent": "text",  # the partner by its registered name
        "seat": "integer",  # of the participant
        "practice": "boolean",
        "status": "text",  # playing, done, abandoned (someone in it stopped taking part)
        "started": "time",
        "finished": "time",
        "score": "number",
        "length": "integer",
        "flags": "integer",
        "leaves": "integer",  # how often the connection was lost
        "missed": "integer",  # steps that the partner was not ready for
        "late_ms": "number",  # the latest step
        "unattended": "integer",  # steps that the participant did not see: a silent line, or another tab in front
        "joint": "integer",  # the same for all rows of a game that several participants played together
        "episode": "integer",  # its number among the traces; null while it is played, and if it was abandoned
    },
    "flags": {
        "participant": "text",
        "game": "integer",
        "page": "text",
        "setting": "text",
        "partner": "text",
        "seat": "integer",
        "flag": "text",
        "t": "integer",  # steps played when it was stored
        "seen": "integer",  # steps played in the picture that the participant saw
        "at": "time",
    },
    "events": {
        "event": "integer",
        "participant": "text",
        "game": "integer",
        "t": "integer",
        "kind": "text",
        "at": "time",
        "payload": "json",
    },
}
