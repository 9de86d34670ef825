"""The books without games: pages answered twice, quizzes tried twice, people screened out."""

import pytest
import sqlalchemy as sa

from interplay.server.api_error import ApiError
from interplay.server.database import SERVER, open_database
from interplay.study.db import participants
from interplay.study.db.schema import HISTORY, answers, games, slots
from tests.manual_clock import ManualClock


class Someone:
    """One person of the small study, by the functions that the server calls."""

    def __init__(self, database, protocol):
        self.database, self.protocol, self.clock = database, protocol, ManualClock()
        database.write(participants.open_study, self.clock, protocol)
        self.id = database.write(participants.enter, self.clock, protocol, "en", None)[0].id

    def answer(self, page, tries_left=None, **given):
        return self.database.write(
            participants.submit, self.clock, self.protocol, self.id, page, given, 1.0, tries_left
        )

    def skip(self):
        """Past a game, as if it had been played."""
        page, now = self.now.pages(self.protocol)[self.now.position], self.clock.now()
        row = {"person": self.id, "page": page.id, "setting": page.item.game, "partner": page.value(page.item.partner)}
        row |= {"seat": 0, "practice": page.practice, "chance": [0, 0], "status": "done", "started": now}

        def played(tx):
            tx.execute(sa.insert(games).values(row))
            participants.advance(tx, self.clock, self.protocol, participants.person(tx, self.id))

        self.database.write(played)

    @property
    def now(self):
        return self.database.read(participants.person, self.id)

    @property
    def page(self):
        return self.now.pages(self.protocol)[self.now.position].id

    def stored(self, page):
        query = sa.select(answers.c.answers).where(answers.c.person == self.id, answers.c.page == page)
        return self.database.read(lambda tx: list(tx.execute(query.order_by(answers.c.id)).scalars()))


@pytest.fixture
def someone(small, tmp_path):
    database = open_database(str(tmp_path / "books.db"), (SERVER, HISTORY))
    yield Someone(database, small)
    database.close()


@pytest.fixture
def ranking(someone):
    """At the second ranking, with two partners to order."""
    someone.answer("consent", agree=True)
    someone.answer("quiz", sum="2")
    for turn in (1, 2):
        someone.skip()
        someone.answer(f"rounds.{turn}.after", liked=4, why="so")
        if turn == 1:
            first = someone.now.pages(someone.protocol)[someone.now.position].met[0]
            someone.answer("rounds.1.rank", order=[someone.now.aliases(someone.protocol)[first].id])
    assert someone.page == "rounds.2.rank"
    return someone


def test_the_same_answer_twice_is_taken_once(someone):
    assert someone.answer("consent", agree=True) == {}
    assert someone.answer("consent", agree=True) == {}
    assert someone.stored("consent") == [{"agree": True}]
    assert someone.page == "quiz"


def test_another_answer_to_an_answered_page_is_a_conflict(ranking):
    assert ranking.answer("rounds.2.after", liked=4, why="so") == {}
    for other in ({"liked": 5, "why": "so"}, {"liked": 4}, {"liked": 9, "why": "so"}, {}):
        with pytest.raises(ApiError) as caught:
            ranking.answer("rounds.2.after", **other)
        assert caught.value.code == "conflict"
        assert "answered before" in caught.value.message
    assert ranking.stored("rounds.2.after") == [{"liked": 4, "why": "so"}]


def test_pages_to_come_and_games_cannot_be_answered(someone):
    someone.answer("consent", agree=True)
    for page in ("rounds.1.after", "rounds.1.game", "nowhere"):
        with pytest.raises(ApiError, match="not the one that is open"):
            someone.answer(page, liked=3)
    someone.answer("quiz", sum="2")
    with pytest.raises(ApiError, match="played, not answered"):
        someone.answer("rounds.1.game")


def test_a_ranking_sent_again_is_compared_by_its_order(ranking):
    order = sorted(alias.id for alias in ranking.now.aliases(ranking.protocol).values())
    assert ranking.answer("rounds.2.rank", order=order) == {}
    assert ranking.answer("rounds.2.rank", order=order) == {}
    with pytest.raises(ApiError, match="first answers count"):
        ranking.answer("rounds.2.rank", order=order[::-1])
    assert len(ranking.stored("rounds.2.rank")) == 1


def test_a_try_whose_reply_got_lost_counts_once(someone):
    someone.answer("consent", agree=True)
    assert someone.answer("quiz", 2, sum="3") == {}
    assert someone.answer("quiz", 2, sum="3") == {}  # the same try, sent again
    assert (someone.now.status, someone.now.tries) == ("active", 1)
    with pytest.raises(ApiError, match="first answers count"):
        someone.answer("quiz", 2, sum="2")
    assert someone.answer("quiz", 1, sum="3") == {}  # a second try with the same wrong answer
    assert someone.now.status == "screened"


def test_who_is_screened_out_gets_the_code_for_it_and_frees_the_place(someone):
    someone.answer("consent", agree=True)
    someone.answer("quiz", sum="3")
    someone.answer("quiz", sum="3")
    assert (someone.now.code, someone.now.payment) == ("NOFIT", None)
    assert someone.database.read(lambda tx: set(tx.execute(sa.select(slots.c.released)).scalars())) == {True}
    assert someone.answer("quiz", sum="3") == {}  # the reply got lost
    with pytest.raises(ApiError, match="first answers count"):
        someone.answer("quiz", sum="2")
