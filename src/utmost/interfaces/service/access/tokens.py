"""Tokens: who may do what, for which releases, up to which level, until when.

A bearer presents ``utmost_<name>_<secret>``; the service keeps the SHA-256 of the secret alone, which has 256 random
bits, so that a digest is as good as a slow hash of a password would be. A token can instead name the subject of an
OpenID provider: then the provider's signed statement takes the place of the secret, and the token says what it allows.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from utmost.core.exact.arguments import instance, optional, text
from utmost.core.exact.levels import Level
from utmost.core.sampling.random_bits import entropy
from utmost.errors import NotAllowed, NotAuthenticated, OutOfRange
from utmost.interfaces.service.api.record_forms import (
    HIDDEN,
    LEVEL_EXAMPLE,
    JsonRecord,
    LevelText,
    Person,
    Record,
    ReleaseName,
    Seconds,
    one_of,
    read_level_if_any,
)
from utmost.publish.ledger.budgets import name_as_read

Role = Literal["recipient", "curator", "approver", "auditor", "admin"]
ROLES: tuple[str, ...] = get_args(Role)

ALLOWED: Mapping[str, frozenset[str]] = {
    "recipient": frozenset({"list", "view"}),
    "curator": frozenset({"list", "view", "propose", "publish", "relax", "history"}),
    "approver": frozenset({"list", "decide proposals", "history"}),
    "auditor": frozenset({"list", "history", "verify", "trail", "metrics"}),
    "admin": frozenset({"list", "tokens", "budgets", "verify", "trail", "metrics"}),
}
"""The actions of each role; whatever is not here is refused."""

_ACTIONS: Mapping[str, str] = {
    "list": "listing releases",
    "view": "viewing an answer",
    "propose": "proposing",
    "publish": "publishing",
    "relax": "relaxing",
    "history": "reading the history",
    "decide proposals": "deciding proposals",
    "verify": "verifying the ledger",
    "trail": "reading the trail",
    "metrics": "reading metrics",
    "tokens": "making and revoking tokens",
    "budgets": "setting budgets",
}
"""The same actions in words, as the subject of a sentence."""

_SECRET_BYTES = 32
_BEARER = re.compile(r"utmost_([0-9a-f]{24})_([A-Za-z0-9_-]{43})", re.ASCII)
_MEND = "Ask for a token that has not expired, and send it as: Authorization: Bearer utmost_..."
EVERY = "*"
_CLAIM = "claim "


@dataclass(frozen=True, slots=True)
class Grant(JsonRecord):
    """A release that a token is for.

    Attributes:
        release: its name; "*" for every one.
        up_to: the largest level; None for any.
    """

    UNKEPT: ClassVar = frozenset()

    release: ReleaseName
    up_to: Annotated[LevelText | None, Field(examples=[LEVEL_EXAMPLE])] = None

    def __post_init__(self) -> None:
        text(self.release, "release")
        optional(self.up_to, lambda value, name: instance(value, Level, name), "up_to")

    def covers(self, release: str | None, level: Level | None) -> bool:
        """Whether a request is within it: a release, or all of them where None is asked for; a level, if it has one."""
        if self.release not in (EVERY, release):
            return False
        return level is None or self.up_to is None or not level > self.up_to


def _grant(record: Mapping[str, Any]) -> Grant:
    return Grant(record["release"], read_level_if_any(record["up_to"]))


@dataclass(frozen=True, slots=True)
class Token(JsonRecord):
    """The rights of a bearer.

    Attributes:
        name: public; a part of what the bearer presents.
        owner: the person or program it belongs to. Two tokens of one owner are one person where two are needed, also
            where the names differ in case or in Unicode's forms alone.
        role: one of `ROLES`.
        grants: the releases and levels it is for. None, for none at all.
        made, expires: seconds since 1970.
        digest: Digest of the secret; None where an OpenID provider speaks for the bearer.
        subject: whom an OpenID provider vouches for: ``ISSUER NAME`` for one bearer, ``claim GROUP=VALUE ISSUER`` for
            each of whom it says so; or None.
        revoked: Time of revocation; None for none.
        also: other names of its owner's, which other tokens tell: see `ServiceContext.person`.
    """

    READ: ClassVar = {"grants": lambda grants: tuple(map(_grant, grants))}
    UNKEPT: ClassVar = frozenset({"name", "also"})

    name: Record
    owner: Person
    role: Annotated[str, one_of(ROLES)]
    grants: tuple[Grant, ...]
    made: Seconds
    expires: Seconds
    digest: Annotated[str | None, HIDDEN] = field(default=None, repr=False)
    subject: str | None = None
    revoked: Seconds | None = None
    also: Annotated[frozenset[str], HIDDEN] = frozenset()

    def is_valid(self, now: float) -> bool:
        """Whether it can be used now."""
        return self.revoked is None and now < self.expires

    @property
    def is_shared(self) -> bool:
        """Whether it is for everybody of whom an OpenID provider says something."""
        return self.subject is not None and self.subject.startswith(_CLAIM)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its owner, each once: the one it says, what a provider calls them, and those of other tokens.

        By the second they were known while no token was made for them, and they came as one of all of whom the
        provider says something.
        """
        own = (self.owner,) if self.subject is None or self.is_shared else (self.owner, self.subject)
        return tuple(dict.fromkeys((*own, *sorted(self.also))))

    @property
    def person(self) -> tuple[str, ...]:
        """Names by which its owner is known as one person, as people read them, the owner's first.

        Two tokens that have one of these in common are one person's.
        """
        return tuple(map(name_as_read, self.names))

    def is_of(self, names: Iterable[str]) -> bool:
        """Whether its owner is the person of whom these are names."""
        return not set(map(name_as_read, names)).isdisjoint(self.person)

    def may(self, verb: str, release: str | None = None, level: Level | None = None) -> bool:
        """Whether it allows something."""
        if verb not in ALLOWED.get(self.role, frozenset()):
            return False
        return any(grant.covers(release, level) for grant in self.grants)

    def may_ever(self, verb: str) -> bool:
        """Whether its role allows something at all, for whatever releases."""
        return verb in ALLOWED.get(self.role, frozenset())

    def check(self, verb: str, release: str | None = None, level: Level | None = None) -> None:
        """Check that it allows something; the answer does not depend on whether the release is there.

        Args:
            verb: one of those in `ALLOWED`.
            release: Release; None for a request that concerns all of them.
            level: Level; None where the request has none.
        """
        if self.may(verb, release, level):
            return
        self.check_role(verb)
        if not self.may(verb, release):
            wanted = "all releases" if release is None else repr(release)
            raise NotAllowed(f"{_ACTIONS[verb].capitalize()} needs a token for {wanted}; yours is for other releases")
        remedy = "Ask for a smaller epsilon, or ask an administrator for a token with a larger one."
        raise NotAllowed(
            f"{_ACTIONS[verb]} needs a token for this level", came=level, where=repr(release), remedy=remedy
        )

    def check_role(self, verb: str) -> None:
        """Check that its role allows something, for whatever releases."""
        if not self.may_ever(verb):
            raise self._of_another_role(verb)

    def check_any(self, *verbs: str) -> None:
        """Check that it allows one of these things, for all releases."""
        if not any(self.may(verb) for verb in verbs):
            allowed = [verb for verb in verbs if self.may_ever(verb)]
            if not allowed:
                raise self._of_another_role(*verbs)
            self.check(allowed[0])

    def _of_another_role(self, *verbs: str) -> NotAllowed:
        """The refusal of actions that other roles have, which it names."""
        needed = " or ".join(f"{_a(role)}'s" for role in ROLES if ALLOWED[role].intersection(verbs))
        actions = " or ".join(_ACTIONS[verb] for verb in verbs).capitalize()
        return NotAllowed(f"{actions} needs {needed} token; you are signed in as {_a(self.role)}")

    def revoked_at(self, now: float) -> "Token":
        """This token, revoked; one that was revoked before stays as it was."""
        return self if self.revoked is not None else replace(self, revoked=int(now))


def _a(role: str) -> str:
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"


def claim_of(subject: str) -> tuple[str, str, str]:
    """The claim, its value and the issuer of a subject that everybody is of whom a provider says this.

    No name of one bearer is taken for one: that begins with the address of the issuer.

    >>> claim_of("claim groups=the statisticians https://id.example")
    ('groups', 'the statisticians', 'https://id.example')
    """
    about, _, issuer = subject.removeprefix(_CLAIM).rpartition(" ")
    name, sign, value = about.partition("=")
    if not subject.startswith(_CLAIM) or not (name and sign and value and issuer):
        remedy = "Write: claim groups=statisticians https://id.example."
        raise OutOfRange("a claim must be a name, a value and an issuer", where="subject", remedy=remedy)
    return name, value, issuer


def claims_say(subject: str, issuer: str, claims: Mapping[str, Any]) -> bool:
    """Whether what an issuer claims of somebody is what a subject asks for: that value, or a list with it."""
    name, value, wanted_issuer = claim_of(subject)
    claimed = claims.get(name)
    return wanted_issuer == issuer and (
        claimed == value if isinstance(claimed, str) else isinstance(claimed, list) and value in claimed
    )


def fresh_secret() -> tuple[str, str]:
    """A new secret, and the digest by which it will be known."""
    secret = urlsafe_b64encode(entropy(_SECRET_BYTES)).rstrip(b"=").decode()
    return secret, _digest(secret)


def bearer(name: str, secret: str) -> str:
    """The text that the bearer of a token presents."""
    return f"utmost_{name}_{secret}"


def read_bearer(presented: object) -> tuple[str, str]:
    """The name and the digest of the secret in what a bearer presents.

    Raises:
        NotAuthenticated: for what is nothing of the kind; it is not repeated.
    """
    matched = _BEARER.fullmatch(presented) if isinstance(presented, str) else None
    if matched is None:
        raise NotAuthenticated("a request must carry a token", remedy=_MEND)
    return matched[1], _digest(matched[2])


def checked_token(token: Token | None, digest: str, now: float) -> Token:
    """The token, if it is one, of this secret, and valid now; one and the same refusal for all that it is not.

    Raises:
        NotAuthenticated: else.
    """
    # Digests are compared for a token that is not there, too: the time it takes tells nothing of names.
    stored = token.digest if token is not None and token.digest is not None else "0" * len(digest)
    same = hmac.compare_digest(stored.encode(), digest.encode())
    if token is None or not same or not token.is_valid(now):
        raise NotAuthenticated("a token must be valid now", remedy=_MEND)
    return token


def check_subject(subject: str) -> None:
    """Check that a subject is the name of somebody, or of all of whom a provider says something."""
    if subject.startswith(_CLAIM):
        claim_of(subject)
        return
    issuer, _, name = subject.partition(" ")
    if not (issuer and name.strip() and subject.isprintable()):
        remedy = "Write: https://id.example ada, or claim groups=statisticians https://id.example."
        raise OutOfRange("a subject must be an issuer and a name, or a claim", where="subject", remedy=remedy)


def check_role(role: object) -> str:
    """A role."""
    if not isinstance(role, str) or role not in ROLES:
        raise OutOfRange(
            f"role must be one of {', '.join(ROLES)}",
            came=role,
            remedy=f"Pass {ROLES[0]}, say.",
        )
    return role


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
