"""A small study whose books are filled without a server: people at every stage, with games that were really played."""

from __future__ import annotations

import zlib
from dataclasses import replace

import orjson
import sqlalchemy as sa

import interplay
from interplay.agents.api import Identity
from interplay.games.registry import make
from interplay.rollout.episode import RecordedEvent
from interplay.server.signatures import secret
from interplay.study.admin import payments
from interplay.study.db import participants
from interplay.study.db.schema import events, games, people
from interplay.study.live.game_session import person_identity
from interplay.study.protocol.reading import parse
from interplay.traces.export import to_record
from tests.study.texts import AGREE, FIVE_EUROS, QUIZ, TWO_PARTNERS, consent, form, rounds, study

HORIZON = 20
TINY = study(
    "tiny",
    QUIZ,
    form("you", "{id: about, type: text, label: Tell us about you, required: false}"),
    rounds("{id: liked, type: likert, scale: agree, label: Liked}"),
    title="{en: A tiny study, zh: 小研究}",
    languages="[en, zh]",
    scales=AGREE,
    games="{kitchen: {game: overcooked/cramped_room, options: {horizon: 20}}}",
    **TWO_PARTNERS,
    first=consent("3"),
    after={
        "end": "Thanks",
        "payment": FIVE_EUROS,
        "completion": '{recruiter: prolific, screened_code: NOFIT, url: "https://example.org/back?cc={code}"}',
    },
)


def protocol(name="tiny", **changes):
    found = parse(TINY.replace("name: tiny", f"name: {name}"))
    return found.model_copy(update=changes) if changes else found


def play_episodes(count=6):
    """Games with a score, of someone who plays at random."""
    game = make("overcooked/cramped_room", horizon=HORIZON)
    return list(interplay.play(game, ["random", "stay"], episodes=count))


class Filler:
    """Walks people through the participants."""

    def __init__(self, database, clock, study, episodes):
        self.database, self.clock, self.study, self.episodes = database, clock, study, episodes
        self.number = 0
        self.recruits = {}  # by participant: the hash of a recruiter's id
        database.write(participants.open_study, clock, study)

    def person(self, recruit=None, language="en"):
        def work(tx):
            key = payments.hashed(secret(tx, self.clock, "recruits"), recruit) if recruit else None
            number = participants.enter(tx, self.clock, self.study, language, key)[0].id
            self.recruits[number] = key
            return number

        return self.database.write(work)

    def answer(self, number, page, **given):
        recruit = self.recruits.get(number)
        submit = participants.submit
        errors = self.database.write(submit, self.clock, self.study, number, page, given, 3.5, recruit=recruit)
        assert errors == {}

    def who(self, number):
        return self.database.read(participants.person, number)

    def page(self, number):
        who = self.who(number)
        return who.pages(self.study)[who.position]

    def begin(self, number):
        self.answer(number, "consent", agree=True)
        self.answer(number, "quiz", sum="2")

    def play(self, number, *, done=True, said=None):
        """The game that is due, with a flag after step 4, a lost connection and, if given, something said."""
        page, episode = self.page(number), self.episodes[self.number % len(self.episodes)]
        self.number += 1
        partner = page.value(page.item.partner)
        now = self.clock.now()

        def work(tx):
            row = {"person": number, "page": page.id, "setting": "kitchen", "partner": partner, "seat": 0}
            row |= {"practice": False, "chance": [1, 2], "status": "playing", "started": now}
            game = tx.execute(sa.insert(games).values(**row).returning(games.c.id)).scalar_one()
            remarks = [RecordedEvent(t=4, seq=0, seat=0, kind="flag", payload={"id": "odd", "seen": 3})]
            if said:
                remarks.append(RecordedEvent(t=5, seq=0, seat=0, kind="message", payload={"text": said}))
            names = (person_identity(participants.person(tx, number).public), Identity(partner, "", False))
            made = replace(episode, agents=names, index=game, seed=0, events=tuple(remarks))
            rows = [
                ("join", 0, {}),
                ("leave", 2, {"reason": "gone"}),
                ("flag", 4, {"id": "odd", "seen": 3, "seqs": [7]}),
            ]
            rows += [("leave", HORIZON, {"reason": "gone"})] if done else []  # when it is over
            rows += [("chat", 5, {"text": said})] if said else []
            steps = made.actions.tolist()[: None if done else 7]
            rows += [("step", t, {"joint": joint, "late_ms": 1.5 + t}) for t, joint in enumerate(steps)]
            tx.execute(sa.insert(events), [
                {"person": number, "game": game, "t": t, "kind": kind, "at": now, "payload": payload}
                for kind, t, payload in rows
            ])  # fmt: skip
            if done:
                packed = zlib.compress(orjson.dumps(to_record(made, 0)), 6)
                values = {"status": "done", "score": made.score, "length": made.length, "finished": now}
                tx.execute(sa.update(games).where(games.c.id == game).values(**values, episode=packed))
                participants.advance(tx, self.clock, self.study, participants.person(tx, number))
            return game

        return self.database.write(work)

    def finish(self, number, about="nothing much", said=None):
        """All the way to the end."""
        self.begin(number)
        self.answer(number, "you", about=about)
        for _ in range(2):
            turn = self.page(number).id.rpartition(".")[0]
            self.play(number, said=said)
            self.answer(number, f"{turn}.after", liked=4)
            known = self.who(number).aliases(self.study)
            met = self.page(number).met
            self.answer(number, f"{turn}.rank", order=[known[name].id for name in met])
        assert self.who(number).status == "done"

    def screen_out(self, number):
        self.answer(number, "consent", agree=True)
        self.answer(number, "quiz", sum="3")
        self.answer(number, "quiz", sum="3")
        assert self.who(number).status == "screened"

    def public(self, number):
        return self.database.read(
            lambda tx: tx.execute(sa.select(people.c.public).where(people.c.id == number)).scalar_one()
        )


def fill(database, clock, study, episodes):
    """Three who are done, one of them with a recruiter's id, one screened out, one in a game, one who just came."""
    made = Filler(database, clock, study, episodes)
    found = {}
    for name, recruit in (("ann", "5f1e0aa1b2c3d4e5f6a7b8c9"), ("ben", "60aa0aa1b2c3d4e5f6a7b8c9"), ("cat", None)):
        found[name] = made.person(recruit)
        made.finish(found[name], about=f"I am {name} <b>the cook</b>")
        clock.advance(60)
    found["dan"] = made.person("61bb0aa1b2c3d4e5f6a7b8c9")
    made.screen_out(found["dan"])
    found["eve"] = made.person(language="zh")
    made.begin(found["eve"])
    made.answer(found["eve"], "you", about=None)
    made.play(found["eve"], done=False)
    found["fay"] = made.person()
    return made, {name: made.public(number) for name, number in found.items()}, found
