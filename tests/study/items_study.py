"""A study with every sort of item, and the two files that it shows."""

import struct
import zlib

ITEMS = """
name: items
title: Items
scales: {agree: {points: 5, left: disagree, right: agree}}
games:
  hanabi: {game: hanabi/2p}
media:
  square: {file: media/square.png, alt: A small square}
  start: {game: hanabi, seed: 1, moves: [hint +1 R], alt: The table after one hint}
  film: {file: media/film.webm, captions: media/film.vtt, alt: A short film}
attention_limit: 2
flow:
  - kind: consent
    id: consent
    title: Consent
    version: "1"
    checkboxes: [{id: agree, label: I agree}]
  - kind: form
    id: you
    title: About you
    shuffle: true
    media: [square]
    questions:
      - {id: warm, type: slider, label: "How warm is it?", min: 0, max: 50, step: 5, left: cold, right: hot}
      - id: pet
        type: choice
        label: "Which pet?"
        shuffle: true
        options: [{value: cat, label: A cat}, {value: dog, label: A dog}, {value: none, label: None, last: true}]
      - {id: called, type: text, label: "What is it called?", when: "pet in ['cat', 'dog']"}
      - {id: read, type: likert, scale: agree, label: Please choose 2, attention: 2}
  - {kind: instructions, id: cats, title: "Only for owners of cats", when: "pet == 'cat'"}
  - kind: quiz
    id: quiz
    title: "What {answer.called} sees"
    tries: 3
    questions:
      - id: tokens
        type: choice
        label: "How many hint tokens are left?"
        media: start
        options: [{value: "7", label: seven}, {value: "8", label: eight}]
        right_answer: "7"
  - kind: repeat
    id: loop
    times: 3
    until: "enough == 'yes'"
    pages:
      - kind: form
        id: more
        title: "Turn {turn}: it is {answer.warm} degrees, you have {answer.pet}"
        questions:
          - id: enough
            type: choice
            label: "Enough?"
            options: [{value: "yes", label: "Yes"}, {value: "no", label: "No"}]
          - {id: read2, type: likert, scale: agree, label: Please choose 5, attention: 5, when: "warm > 30"}
analysis:
  - {kind: exclude, id: exclude, failed_checks: 0}
  - {kind: ratings, id: ratings, of: [warm]}
"""


def write_items(folder):
    """Write the study and its media into a folder, and return the study's path."""
    (folder / "media").mkdir(parents=True, exist_ok=True)
    (folder / "media" / "square.png").write_bytes(_png())
    (folder / "media" / "film.webm").write_bytes(b"\x1aE\xdf\xa3 not a film that plays")
    (folder / "media" / "film.vtt").write_text("WEBVTT\n\n00:00.000 --> 00:01.000\nNothing happens.\n")
    path = folder / "items.yaml"
    path.write_text(ITEMS, encoding="utf-8")
    return path


def _png() -> bytes:
    """A blue square of eight pixels a side."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\x00" + b"\x1d\x4e\xd8" * 8 for _ in range(8))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
