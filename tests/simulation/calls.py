"""What clients ask: publications, relaxations, views, answers of persons, proposals and approvals."""

from dataclasses import dataclass, replace

import utmost as ut
from service.publications import Terms, propose_by, publish_by, relax_by
from utmost.channels import Channel
from utmost.errors import NeedsApproval, NeedsTable, NotPublished, OutOfRange, UnknownRecord, Unsupported
from utmost.exact import level
from utmost.local import read_mechanism
from utmost.spaces import discrete

WIDE = "1/1000000"
"""A level so low that two cells have the same noise once in two million times."""

LEVELS = (WIDE, "1/2", "5/8", "3/4")
"""The others are so close that noise at two of them is mostly the same: drawn apart it would not be."""
FIRST = {"a": WIDE, "b": "1/2", "c": "5/8"}
ROWS = 40
DATASET = "all"
PROMISE = ut.Promise(["n", "m"], public="row", unit=ut.Unit(1, 1))
TERMS = Terms.read(PROMISE.facts() | {"dataset": DATASET})
POLL = read_mechanism(Channel([["1/8", *["1/24"] * 15, "1/4"], ["1/4", *["1/24"] * 15, "1/8"]]), discrete(2))
NOT_YET = (NotPublished, UnknownRecord, NeedsApproval, NeedsTable)
"""What a client may be answered whose call came before another one that it needs."""

ORDER = ("propose", "approve", "publish", "respond", "relax", "view")


@dataclass(frozen=True, order=True)
class Call:
    """One call. Sent again, it is the same.

    Attributes:
        verb: what is asked for.
        name, version: of the release; for an answer of a person, who it is, and 1.
        epsilon: the level; for an answer of a person, the secret by then.
        of: for a proposal or its approval, the verb that it is for.
        by: who approves.
    """

    verb: str
    name: str
    version: int
    epsilon: str
    of: str = ""
    by: str = ""

    @property
    def item(self):
        """What has one answer."""
        return (self.name, 1, "answer") if self.verb == "respond" else (self.name, self.version, self.epsilon)

    @property
    def key(self):
        """The name of the request."""
        return f"{self.verb} {self.of} {self.name} {self.version} {self.epsilon}"

    @property
    def is_approval_of_a_relaxation(self):
        """Whether it can be asked for only once the release is there."""
        return (self.verb, self.of) == ("approve", "relax")

    @property
    def place(self):
        """Where it comes when each call follows those that it needs: a version is proposed after the one before it."""
        return ORDER.index(self.of or self.verb), self.version, ORDER.index(self.verb)

    def is_before_its_time(self, error):
        """Whether an error says that another call must come first."""
        if isinstance(error, OutOfRange):
            # The last is too late: a level above it was answered since.
            known = (
                "version must be an existing version",
                "the next version of the release",
                "larger epsilon than all answers so far",
            )
            return any(one in str(error) for one in known)
        if isinstance(error, Unsupported):  # whoever approves a relaxation is shown what the release promises
            return self.is_approval_of_a_relaxation and "a release that does not exist" in str(error)
        return isinstance(error, NOT_YET)

    def proposal(self):
        """The proposal that it needs."""
        return Call("propose", self.name, self.version, self.epsilon, of=self.verb)

    def asked(self, ledger):
        """What a ledger answers: the labels, and the values of each column."""
        if self.verb == "respond":
            return ledger.respond("poll", POLL, {self.name: int(self.epsilon)}, independent=True)[self.name]
        where = {"version": self.version, "epsilon": self.epsilon}
        if self.verb == "publish":
            if self.version == 1:
                del where["version"]
            answer = ledger.publish(self.name, table(self), PROMISE, dataset=DATASET, **where, request=self.key)
            return cells(answer.table)
        if self.verb == "relax":
            return cells(ledger.relax(self.name, table(self), **where).table)
        return cells(ledger.view(self.name, **where).table)

    def asked_of_service(self, service, tokens):
        """What a service answers."""
        curator, at = tokens["Ada", "curator"], level(self.epsilon) if self.verb != "respond" else None
        if self.verb == "respond":
            return self.asked(service.ledger)
        if self.verb == "propose":
            terms = TERMS if self.of == "publish" else None
            version = {"version": self.version}
            return propose_by(service, curator, self.key, self.of, self.name, at, terms=terms, **version).name
        if self.verb == "approve":
            named = service.context.record_name("proposal", curator, replace(self, verb="propose", by="").key)
            return service.proposals.decide(tokens[self.by, "approver"], named, "approved").state
        if self.verb == "view":
            return cells(service.releases.view(curator, self.name, at, version=self.version).table)
        given = (curator, self.key, self.name, table(self), at)
        more = {"proposal": service.context.record_name("proposal", curator, self.proposal().key)}
        if self.verb == "publish":
            version = None if self.version == 1 else self.version
            return cells(publish_by(service, *given, TERMS, **more, version=version))
        return cells(relax_by(service, *given, **more, version=self.version))


def table(call):
    """The true values of a release: its own, in every version."""
    start = 100_000 * sum(map(ord, call.name)) + 1000 * call.version
    return {
        "row": [f"{call.name}{k}" for k in range(ROWS)],
        "n": [start + 7 * k for k in range(ROWS)],
        "m": [-start - 11 * k for k in range(ROWS)],
    }


def cells(released):
    """The labels and the values that a table shows."""
    return [list(map(str, released["row"])), *([int(cell) for cell in released[column]] for column in ("n", "m"))]


def noise(item, answer):
    """What was added to each cell."""
    true, (_, *columns) = table(Call("view", *item)), answer
    return [
        cell - value
        for name, column in zip("nm", columns, strict=True)
        for cell, value in zip(column, true[name], strict=False)  # a place may have had fewer rows
    ]


def calls(coin, with_service):
    """What is asked in a history, each thing once."""
    items = [(name, version) for name in FIRST for version in ((1, 2) if name == "a" else (1,))]
    published = {
        Call("publish", name, version, FIRST[name]) for name, version in items if name == "a" or coin.random() < 0.7
    }
    more = {
        Call(coin.choice(("relax", "view")), *coin.choice(items), coin.choice(LEVELS))
        for _ in range(coin.randrange(2, 6))
    }
    persons = {Call("respond", f"person {coin.randrange(2)}", 1, str(coin.randrange(2))) for _ in range(2)}
    asked = published | more | (persons if coin.random() < 0.4 else set())
    if with_service:
        proposals = {call.proposal() for call in asked if call.verb in ("publish", "relax")}
        asked |= proposals
        asked |= {replace(proposal, verb="approve", by="Grace") for proposal in proposals}
        asked |= {replace(proposal, verb="approve", by="Ada") for proposal in sorted(proposals) if coin.random() < 0.3}
    return sorted(asked, key=lambda call: (*call.place, call))
