"""Approve and pay participants by their recruiter's API. Its ids are looked up by hash, and never stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from urllib.parse import urljoin, urlsplit

import httpx
import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server import audit
from interplay.server.clock import Clock
from interplay.server.database import Database, Tx
from interplay.server.signatures import secret
from interplay.study.admin import payments
from interplay.study.db.participants import DONE
from interplay.study.db.schema import paid, people, recruits
from interplay.study.protocol.model import Protocol as Study

PROLIFIC = "https://api.prolific.com"
WAITING = "AWAITING REVIEW"  # a submission that can be approved
UNREWARDED = ("RETURNED", "TIMED-OUT", "REJECTED")  # submissions for which the recruiter pays nothing
MOST_BONUSES = 200  # in one request to Prolific
MOST_PAGES = 1000


class RecruiterSubmission(NamedTuple):
    """What a recruiter knows of one participant."""

    id: str
    participant: str  # the recruiter's id of the person
    status: str


class Recruiter(Protocol):
    """A recruiter's API."""

    def submissions(self) -> Sequence[RecruiterSubmission]:
        """Return all submissions of the study at the recruiter's."""
        ...

    def approve(self, submission: str) -> None:
        """Approve a submission, which pays its reward."""
        ...

    def prepare_bonuses(self, amounts: Mapping[str, float]) -> str:
        """Set up bonuses by the recruiter's ids, and return what `pay_bonuses` takes. Nothing is paid yet."""
        ...

    def pay_bonuses(self, batch: str) -> None:
        """Pay bonuses that were set up. Paying a batch twice may pay people twice."""
        ...


class ProlificApi:
    """Prolific's API, version 1.

    Args:
        token: The researcher's API token.
        study: The study's id at Prolific.
        address: Where the API is; another one in tests.
    """

    def __init__(self, token: str, study: str, address: str = PROLIFIC):
        if not token.strip():
            raise InterplayError("Prolific's API needs a token: set the environment variable PROLIFIC_TOKEN")
        if not study.isalnum():
            raise InterplayError(f"{study!r} is no id of a study at Prolific: letters and digits, as in its address")
        self._study, self._address = study, address
        self._client = httpx.Client(headers={"authorization": f"Token {token.strip()}"}, timeout=30)

    def submissions(self) -> list[RecruiterSubmission]:
        """Return all submissions of the study."""
        return [
            RecruiterSubmission(*(_field(row, name) for name in ("id", "participant_id", "status")))
            for row in self._pages()
        ]

    def _pages(self) -> Iterator[Mapping[str, Any]]:
        path: str | None = f"/api/v1/studies/{self._study}/submissions/"
        for _ in range(MOST_PAGES):
            answer = self._ask("GET", path)
            yield from _field(answer, "results")
            path = ((answer.get("_links") or {}).get("next") or {}).get("href")
            if not path:
                return
        raise InterplayError("Prolific's list of submissions has no end")

    def approve(self, submission: str) -> None:
        """Approve a submission."""
        self._ask("POST", f"/api/v1/submissions/{submission}/transition/", {"action": "APPROVE"})

    def prepare_bonuses(self, amounts: Mapping[str, float]) -> str:
        """Set up bonuses, in the study's currency."""
        lines = "\n".join(f"{participant},{amount:.2f}" for participant, amount in amounts.items())
        body = {"study_id": self._study, "csv_bonuses": lines}
        return str(_field(self._ask("POST", "/api/v1/submissions/bonus-payments/", body), "id"))

    def pay_bonuses(self, batch: str) -> None:
        """Pay bonuses that were set up."""
        self._ask("POST", f"/api/v1/bulk-bonus-payments/{batch}/pay/")

    def _ask(self, method: str, path: str | None, body: Any = None) -> dict[str, Any]:
        address = urljoin(self._address, path or "")
        if urlsplit(address).netloc != urlsplit(self._address).netloc:
            raise InterplayError(f"Prolific's reply leads to another host, {urlsplit(address).netloc}: not followed")
        try:
            response = self._client.request(method, address, json=body)
        except httpx.HTTPError as error:
            raise InterplayError(f"Prolific cannot be reached ({type(error).__name__}): {error}") from None
        if response.status_code >= 400:
            raise InterplayError(f"Prolific refused ({response.status_code}): {response.text[:300]}")
        try:
            return response.json() if response.content else {}
        except ValueError:
            return {}


def _field(reply: Any, name: str) -> Any:
    if not isinstance(reply, Mapping) or name not in reply:
        raise InterplayError(f"Prolific's reply has no {name!r}: {str(reply)[:200]}")
    return reply[name]


@dataclass(frozen=True)
class Settlement:
    """What is to be done with one submission."""

    submission: RecruiterSubmission
    participant: str | None  # the public name here; None: never came
    status: str | None  # here
    approve: bool
    bonus: float | None  # None: nothing is owed, or it was paid

    def row(self) -> dict[str, Any]:
        """Return the settlement as a row of a table, without the recruiter's id of the person."""
        plan = {"approve": self.approve, "bonus": self.bonus}
        return {"submission": self.submission.id, "recruiter": self.submission.status,
                "participant": self.participant, "study": self.status, **plan}  # fmt: skip


def plan(
    tx: Tx, clock: Clock, study: Study, submissions: Sequence[RecruiterSubmission], *, already: float = 0.0
) -> list[Settlement]:
    """Return what is to be done with each submission: those who finished are approved, and paid what is still owed.

    Args:
        tx: The transaction.
        clock: Gives the time at which a new key is created.
        study: The study.
        submissions: The recruiter's.
        already: What the recruiter pays everyone who is approved; the rest is the bonus. Who returned their submission,
            ran out of time there, or was rejected gets nothing from the recruiter, so the bonus is all that is owed.
    """
    if not 0 <= already < 1e6:
        raise InterplayError("already paid: an amount from 0")
    key = secret(tx, clock, "recruits")
    query = (
        sa.select(recruits.c.hash, people.c.public, people.c.status, people.c.payment, paid.c.at)
        .join(people, people.c.id == recruits.c.person)
        .outerjoin(paid, paid.c.person == people.c.id)
        .where(recruits.c.study == study.name)
    )
    known = {row.hash: row for row in tx.execute(query)}
    settlements, settled = [], set()
    # Whoever returned a submission may have another one: the bonus goes with the one that the recruiter pays for.
    for submission in sorted(submissions, key=lambda one: one.status in UNREWARDED):
        row = known.get(payments.hashed(key, submission.participant))
        if row is None:
            settlements.append(Settlement(submission, None, None, False, None))
            continue
        owed = row.payment if row.at is None and row.public not in settled else None
        settled.add(row.public)
        reward = 0.0 if submission.status in UNREWARDED else already
        bonus = round(max(0.0, owed - reward), 2) if owed is not None else None
        approve = row.status == DONE and submission.status == WAITING
        settlements.append(Settlement(submission, row.public, row.status, approve, bonus))
    return settlements


def settle(
    database: Database,
    clock: Clock,
    study: Study,
    recruiter: Recruiter,
    settlements: Sequence[Settlement],
    *,
    approve: bool,
    bonus: bool,
    by: str,
) -> tuple[int, float]:
    """Carry out what was planned, and return how many submissions were approved and what was paid as bonuses.

    Participants are marked as paid after their bonuses are set up and before they are paid, since a payment whose reply
    gets lost must not be made again. If paying fails, the error names them: see at the recruiter's whether it was
    made, and take the mark back if it was not.

    Args:
        database: The study's database.
        clock: Gives the times that are noted.
        study: The study.
        recruiter: The recruiter's API.
        settlements: From `plan`.
        approve: Whether submissions are approved.
        bonus: Whether bonuses are paid.
        by: Who does it, for the audit log.
    """
    approved, total = 0, 0.0
    for item in settlements if approve else ():
        if item.approve:
            recruiter.approve(item.submission.id)
            database.write(audit.note, clock, by, "approve", item.participant or "", submission=item.submission.id)
            approved += 1
    owed = [item for item in settlements if bonus and item.bonus and item.participant]
    for at in range(0, len(owed), MOST_BONUSES):
        batch = owed[at : at + MOST_BONUSES]
        prepared = recruiter.prepare_bonuses({item.submission.participant: item.bonus or 0.0 for item in batch})
        names = [item.participant or "" for item in batch]
        database.write(payments.mark, clock, study, names, by=by)
        try:
            recruiter.pay_bonuses(prepared)
        except InterplayError as error:
            raise InterplayError(
                f"{error}\nthe bonuses of {', '.join(names)} are marked as paid: see at the recruiter's whether they "
                "were, and if not, take the marks back (interplay study payments DB --unmark ...)"
            ) from None
        total += sum(item.bonus or 0.0 for item in batch)
    return approved, round(total, 2)
