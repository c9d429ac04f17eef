"""Raises budgets by proposals: a larger budget needs two different people.

Both must be stewards or owners when it is carried out. An owner could make a second person up, so
both accounts must have been in their person's hands alone for a while: with a password of their
own, and `waiting_days` after anybody else added the account, gave it a password or roles, or let
it in again. Until then everybody who reads the ledger can see a made-up person coming, and who
had a hand in it stands beside the two names. A second try after a crash is harmless: a budget that
is as large already stays as it is.

The first owner decides alone until there is a second person: as long as nobody else has ever been
a steward or an owner. The ledger then says that one person has decided.

Theorem.  Once a second person has been a steward or an owner, no budget is raised by one person.
  Proven:   who is one stands in the ledger before they are one, and the ledger only
            grows (and is frozen where it does not): to disable somebody, or to take their role,
            takes no name from it. Who raises a budget looks while nobody else may write
  Tested:   tests/curator/test_requests.py, also with a ledger that fails at each act
  Assumed:  whoever has the files of the machine is trusted, also with its clock
"""

from datetime import timedelta

from sqlalchemy import select

from letalone.curator.data_sets.service import DataSets
from letalone.curator.grants.decisions import DECIDE, Decisions, read_words
from letalone.curator.people.service import PeopleService
from letalone.curator.storage import stored_values as stored
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.refusals import NotPermitted, NotThere
from letalone.curator.storage.tables import PROPOSALS
from letalone.errors import ParameterError
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.wire.records import Person, Proposal, Role, State


class Proposals:
    """Larger budgets that one person proposes and another one seconds."""

    __slots__ = ("_data_sets", "_decisions", "_people", "_shared")

    def __init__(self, shared: Dependencies, people: PeopleService, data_sets: DataSets) -> None:
        self._shared, self._people, self._data_sets = shared, people, data_sets
        missing = "There is no such proposal."
        self._decisions = Decisions(shared, PROPOSALS, Proposal, "proposal", missing)

    def make(
        self,
        data_set: str,
        budget: Budget,
        *,
        why: str,
        by: str,
        purpose: str | None = None,
        analyst: str | None = None,
    ) -> Proposal:
        self._people.require(by, *DECIDE)
        self._data_sets.record(data_set)
        budget = self._larger(data_set, budget, purpose=purpose, analyst=analyst)
        row = {
            "id": stored.new_id(), "data_set": data_set, "purpose": purpose, "analyst": analyst,
            **stored.write_budget(budget), "why": read_words("why", why), "state": State.OPEN.value,
            "proposed_by": by, "proposed": stored.write_time(self._shared.clock()),
        }  # fmt: skip
        with self._shared.database.writing() as connection:
            made = self._decisions.add(connection, row)
        self._decisions.write("proposed", made, by=by)
        return made

    def second(self, proposal: str, *, by: str, reason: str = "seconded") -> Proposal:
        """Agrees, and so carries it out; somebody else than who proposed, and not made up.

        Where nobody else has ever been a steward or an owner, the first owner agrees alone.
        """
        self._people.require(by, *DECIDE)
        words = read_words("reason", reason)
        with self._shared.database.writing() as connection:
            before = self._decisions.find_open(connection, proposal)
            self._check_second(before, by)
            both = list(dict.fromkeys([before.proposed_by, by]))
            ledger, name, budget = self._shared.ledger, before.data_set, before.budget
            purpose, analyst = before.purpose, before.analyst
            if purpose is None:
                ledger.raise_budget(name, budget, by=both)
            else:
                ledger.raise_level(name, budget, purpose=purpose, analyst=analyst, by=both)
            after = self._decisions.decide(connection, proposal, State.GRANTED, by=by, reason=words)
            what = "seconded" if len(both) > 1 else "decided alone"
            self._decisions.write(what, after, by=by, accounts=self._accounts(both))
        return after

    def can_second(self, proposal: Proposal, *, by: str) -> bool:
        try:
            self._people.require(by, *DECIDE)
            self._check_second(proposal, by)
        except NotPermitted:
            return False
        return proposal.state is State.OPEN

    def refuse(self, proposal: str, *, reason: str, by: str) -> Proposal:
        """Declines a proposal, or takes back one's own."""
        self._people.require(by, *DECIDE)
        words = read_words("reason", reason)
        with self._shared.database.writing() as connection:
            before = self._decisions.find_open(connection, proposal)
            state = State.WITHDRAWN if before.proposed_by == by else State.REFUSED
            after = self._decisions.decide(connection, proposal, state, by=by, reason=words)
        self._decisions.write("proposal declined", after, by=by)
        return after

    def proposals(self, *, by: str) -> list[Proposal]:
        self._people.require(by, *DECIDE, Role.AUDITOR)
        wanted = select(PROPOSALS).order_by(PROPOSALS.c.proposed.desc(), PROPOSALS.c.id)
        return [stored.read_record(Proposal, row) for row in self._shared.database.rows(wanted)]

    def proposal(self, proposal: str, *, by: str) -> Proposal:
        self._people.require(by, *DECIDE, Role.AUDITOR)
        with self._shared.database.reading() as connection:
            return self._decisions.find(connection, proposal)

    def _check_second(self, proposal: Proposal, by: str) -> None:
        """NotPermitted where this person cannot be the second one, or not yet."""
        nobody_else = self._people.ever(*DECIDE) == frozenset({by})  # ever could second anything
        if proposal.proposed_by == by and not nobody_else:
            raise NotPermitted("You proposed it yourself. A second person has to agree.")
        if not self._people.has(proposal.proposed_by, *DECIDE):
            raise NotPermitted(
                "The person who proposed it is not a steward or owner any more. Propose it again."
            )
        if proposal.analyst == by:
            raise NotPermitted("This is your own budget. Somebody else has to agree.")
        people = [self._people.person(name) for name in (proposal.proposed_by, by)]
        self._check_own_passwords(people)
        if proposal.proposed_by != by:
            self._check_own_hands(people)

    def _check_own_passwords(self, people: list[Person]) -> None:
        """NotPermitted where somebody else has seen a password."""
        one_time = [person.name for person in people if person.must_change]
        if one_time:
            raise NotPermitted(
                f"The account of {one_time[0]!r} still has a one-time password, which another"
                " person has seen. Budgets are raised by people who chose their own passwords."
            )

    def _check_own_hands(self, people: list[Person]) -> None:
        """NotPermitted where somebody else had one of the accounts in their hands lately."""
        wait = timedelta(days=self._shared.settings.waiting_days)
        last, now = max(people, key=lambda person: person.handed), self._shared.clock()
        if now + stored.CLOCK_TOLERANCE < last.handed:
            raise NotPermitted(_handled_ahead_words(last, wait))
        if now < last.handed + wait:
            raise NotPermitted(
                f"The account of {last.name!r} {_handled_words(last)} lately. Budgets are raised by"
                f" two people whose accounts nobody else controlled for {wait.days} days: these"
                f" two can from {stored.write_time(last.handed + wait)}. Let others propose or"
                " second it, or wait."
            )

    def _accounts(self, names: list[str]) -> Json:
        """Since when the accounts are in their hands, and whose they were in before."""
        people = [self._people.person(name) for name in names]
        return {
            person.name: {"since": stored.write_time(person.handed), "from": person.handed_by}
            for person in people
        }

    def _larger(
        self, data_set: str, budget: Budget, *, purpose: str | None, analyst: str | None
    ) -> Budget:
        """What is proposed must be larger, within what is above it; without a δ the old one stays.

        A budget is never lowered, so δ = 0 can mean nothing else.
        """
        now = self._budget(data_set, purpose, analyst)
        budget = budget if budget.delta else Budget(budget.epsilon, now.delta)
        if not now <= budget or now == budget:
            raise ParameterError(
                f"budget is ({budget}), but must be larger than it is now, ({now}): a budget is"
                " never lowered."
            )
        parent = None if analyst is None else purpose
        above = budget if purpose is None else self._budget(data_set, parent, None)
        if not budget <= above:  # a share is no larger than what it is a share of
            which = "data set" if analyst is None else f"purpose {purpose!r}"
            raise ParameterError(
                f"budget is ({budget}), more than the whole {which} has, ({above}). Propose less,"
                " or raise that first."
            )
        return budget

    def _budget(self, data_set: str, purpose: str | None, analyst: str | None) -> Budget:
        if purpose is None:
            if analyst is not None:
                raise ParameterError("An analyst's budget is for a purpose. Name it.")
            return self._shared.ledger.data_set(data_set).budget
        level = self._shared.ledger_view.level(data_set, purpose=purpose, analyst=analyst)
        if level is None:
            raise NotThere(f"{data_set!r} has no such purpose, or no such grant for it.")
        return level.budget


def _handled_ahead_words(person: Person, wait: timedelta) -> str:
    """When it really was, nobody knows: not to count it would let a made-up person in at once."""
    return (
        f"The account of {person.name!r} {_handled_words(person)} when a clock was wrong: by it, on"
        f" {stored.write_time(person.handed)}, which is yet to come. Look at the service's clock."
        f" If it is right now, let an owner give {person.name!r} the same roles again: the"
        f" {wait.days} days that an account must be in its person's own hands begin then."
    )


def _handled_words(person: Person) -> str:
    by = person.handed_by
    if by is None:
        return "was made, or given a one-time password, on the service's machine"
    return f"was handled by {by!r}: added, given a password or roles, or let in again,"
