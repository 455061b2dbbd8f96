"""Tokens state who may do which actions, for which releases, up to which level, and until when.

A bearer presents ``utmost_<name>_<secret>``. The service stores only the SHA-256 of the secret; a secret has 256 random
bits, so no slow hash is needed. A token can instead name a subject of an OpenID provider: the provider's signed claims
then replace the secret, and the token gives the rights.
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
from utmost.publish.ledger.names import name_as_read

Role = Literal["recipient", "curator", "approver", "auditor", "admin"]
ROLES: tuple[str, ...] = get_args(Role)

ALLOWED: Mapping[str, frozenset[str]] = {
    "recipient": frozenset({"list", "view"}),
    "curator": frozenset({"list", "view", "propose", "read proposals", "publish", "relax", "history"}),
    "approver": frozenset({"list", "decide proposals", "read proposals", "history"}),
    "auditor": frozenset({"list", "read proposals", "history", "verify", "trail", "metrics"}),
    "admin": frozenset({"list", "tokens", "budgets", "verify", "trail", "metrics"}),
}
"""The actions of each role; all other actions are refused."""

_ACTIONS: Mapping[str, str] = {
    "list": "listing releases",
    "view": "viewing an answer",
    "propose": "proposing",
    "publish": "publishing",
    "relax": "relaxing",
    "history": "reading the history",
    "decide proposals": "deciding proposals",
    "read proposals": "reading proposals",
    "verify": "verifying the ledger",
    "trail": "reading the trail",
    "metrics": "reading metrics",
    "tokens": "making and revoking tokens",
    "budgets": "setting budgets",
}
"""Actions in words, as the subject of a sentence."""

_SECRET_BYTES = 32  # random bytes in the text of a token, "utmost_NAME_SECRET"
_BEARER = re.compile(r"utmost_([0-9a-f]{24})_([A-Za-z0-9_-]{43})", re.ASCII)
_REMEDY = "Ask for a token that has not expired, and send it as: Authorization: Bearer utmost_..."
EVERY = "*"
_CLAIM = "claim "


@dataclass(frozen=True, slots=True)
class Grant(JsonRecord):
    """A release that a token gives access to.

    Attributes:
        release: Name of the release; "*" for every release.
        up_to: Largest level; None for any level.
    """

    UNKEPT: ClassVar = frozenset()

    release: ReleaseName
    up_to: Annotated[LevelText | None, Field(examples=[LEVEL_EXAMPLE])] = None

    def __post_init__(self) -> None:
        text(self.release, "release")
        optional(self.up_to, lambda value, name: instance(value, Level, name), "up_to")

    def covers(self, release: str | None, level: Level | None) -> bool:
        """Check whether the grant is for this release (None: for all releases) and is for this level (None: for some
        level); a grant is for all levels up to ``up_to``.
        """
        if self.release not in (EVERY, release):
            return False
        return level is None or self.up_to is None or not level > self.up_to


@dataclass(frozen=True, slots=True)
class Token(JsonRecord):
    """The rights of a bearer."""

    READ: ClassVar = {
        "grants": lambda grants: tuple(Grant(each["release"], read_level_if_any(each["up_to"])) for each in grants)
    }
    UNKEPT: ClassVar = frozenset({"name", "also"})

    name: Record  # public part of the text that the bearer presents
    # Person or program. Two tokens whose owners' names read the same (case, Unicode forms) belong to one person.
    owner: Person
    role: Annotated[str, one_of(ROLES)]
    grants: tuple[Grant, ...]  # none: no rights
    made: Seconds
    expires: Seconds
    # SHA-256 of the secret; None for an OpenID subject.
    digest: Annotated[str | None, HIDDEN] = field(default=None, repr=False)
    # OpenID subject: "ISSUER NAME" for one person, "claim GROUP=VALUE ISSUER" for a group; else None.
    subject: str | None = None
    revoked: Seconds | None = None  # time of revocation
    # The owner's names in other tokens, see `ServiceContext.person`.
    also: Annotated[frozenset[str], HIDDEN] = frozenset()

    def is_valid(self, now: float) -> bool:
        return self.revoked is None and now < self.expires

    @property
    def is_shared(self) -> bool:
        """Whether the token is for a group of an OpenID provider."""
        return self.subject is not None and self.subject.startswith(_CLAIM)

    @property
    def names(self) -> tuple[str, ...]:
        """The owner's distinct names: in this token, at the OpenID provider, and in other tokens."""
        # The provider's name identifies people who earlier used a token of a group.
        own = (self.owner,) if self.subject is None or self.is_shared else (self.owner, self.subject)
        return tuple(dict.fromkeys((*own, *sorted(self.also))))

    @property
    def person(self) -> tuple[str, ...]:
        """The owner's names as people read them, the owner first; tokens with a common name belong to one person."""
        return tuple(map(name_as_read, self.names))

    def is_of(self, names: Iterable[str]) -> bool:
        """Check whether the owner has one of these names."""
        return not set(map(name_as_read, names)).isdisjoint(self.person)

    def may(self, verb: str, release: str | None = None, level: Level | None = None) -> bool:
        if verb not in ALLOWED.get(self.role, frozenset()):
            return False
        return any(grant.covers(release, level) for grant in self.grants)

    def may_ever(self, verb: str) -> bool:
        """Check whether the role allows an action for some release."""
        return verb in ALLOWED.get(self.role, frozenset())

    def check(self, verb: str, release: str | None = None, level: Level | None = None) -> None:
        """Refuse an action that the token does not allow; the refusal does not depend on whether the release exists."""
        if self.may(verb, release, level):
            return
        self.check_role(verb)
        if not self.may(verb, release):
            needed = "all releases" if release is None else repr(release)
            raise NotAllowed(
                f"{_ACTIONS[verb].capitalize()} needs a token for {needed}, and your token is for other releases"
            )
        remedy = "Ask for a smaller epsilon, or ask an administrator for a token with a larger one."
        raise NotAllowed(
            f"{_ACTIONS[verb]} needs a token for this level", came=level, where=repr(release), remedy=remedy
        )

    def check_role(self, verb: str) -> None:
        """Refuse an action that the role never allows."""
        if not self.may_ever(verb):
            raise self._of_another_role(verb)

    def check_any(self, *verbs: str) -> None:
        """Check that the token allows one of these actions, for all releases."""
        if not any(self.may(verb) for verb in verbs):
            allowed = [verb for verb in verbs if self.may_ever(verb)]
            if not allowed:
                raise self._of_another_role(*verbs)
            self.check(allowed[0])

    def _of_another_role(self, *verbs: str) -> NotAllowed:
        """Return the refusal that names the roles which may do one of these actions."""
        needed = " or ".join(f"{_a(role)}'s" for role in ROLES if ALLOWED[role].intersection(verbs))
        actions = " or ".join(_ACTIONS[verb] for verb in verbs).capitalize()
        return NotAllowed(f"{actions} needs {needed} token, and you are signed in as {_a(self.role)}")

    def revoked_at(self, now: float) -> "Token":
        """Return the token with this time of revocation, or unchanged if it was revoked earlier."""
        return self if self.revoked is not None else replace(self, revoked=int(now))


def _a(role: str) -> str:
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"


def claim_of(subject: str) -> tuple[str, str, str]:
    """Split the subject of a group, ``claim NAME=VALUE ISSUER``, into the claim's name, its value, and the issuer."""
    # The subject of one person begins with the issuer's address, and so is never read as a group.
    about, _, issuer = subject.removeprefix(_CLAIM).rpartition(" ")
    name, sign, value = about.partition("=")
    if not subject.startswith(_CLAIM) or not (name and sign and value and issuer):
        remedy = "Write: claim groups=statisticians https://id.example."
        raise OutOfRange("a claim must be a name, a value and an issuer", where="subject", remedy=remedy)
    return name, value, issuer


def is_in_group(subject: str, issuer: str, claims: Mapping[str, Any]) -> bool:
    """Return whether signed claims are of a group's member: the group's claim must have, or list, the group's value."""
    name, value, group_issuer = claim_of(subject)
    claimed = claims.get(name)
    return group_issuer == issuer and (
        claimed == value if isinstance(claimed, str) else isinstance(claimed, list) and value in claimed
    )


def fresh_secret() -> tuple[str, str]:
    """Return a new secret and its SHA-256 in hexadecimal."""
    secret = urlsafe_b64encode(entropy(_SECRET_BYTES)).rstrip(b"=").decode()
    return secret, _digest(secret)


def bearer(name: str, secret: str) -> str:
    """Return the text of a token, which its bearer presents: "utmost_NAME_SECRET"."""
    return f"utmost_{name}_{secret}"


def read_bearer(presented: object) -> tuple[str, str]:
    """Split the text that a bearer presents into the token's name and the SHA-256 of its secret."""
    matched = _BEARER.fullmatch(presented) if isinstance(presented, str) else None
    if matched is None:
        raise NotAuthenticated("a request must carry a token", remedy=_REMEDY)
    return matched[1], _digest(matched[2])


def checked_token(token: Token | None, digest: str, now: float) -> Token:
    """Return the token if it exists, has this secret, and is valid; otherwise refuse with one and the same message."""
    # Compare digests also for an unknown token, so that the time reveals no names.
    stored = token.digest if token is not None and token.digest is not None else "0" * len(digest)
    same = hmac.compare_digest(stored.encode(), digest.encode())
    if token is None or not same or not token.is_valid(now):
        raise NotAuthenticated("the token must be valid now", remedy=_REMEDY)
    return token


def check_subject(subject: str) -> None:
    """Check that a subject names a person or a group of an OpenID provider."""
    if subject.startswith(_CLAIM):
        claim_of(subject)
        return
    issuer, _, name = subject.partition(" ")
    if not (issuer and name.strip() and subject.isprintable()):
        remedy = (
            "Write https://id.example ada for a person, or claim groups=statisticians https://id.example for a group."
        )
        raise OutOfRange("a subject must be an issuer and a name, or a claim", where="subject", remedy=remedy)


def check_role(role: object) -> str:
    if not isinstance(role, str) or role not in ROLES:
        raise OutOfRange(
            f"role must be one of {', '.join(ROLES)}",
            came=role,
            remedy=f"Pass, for example, {ROLES[0]}.",
        )
    return role


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
