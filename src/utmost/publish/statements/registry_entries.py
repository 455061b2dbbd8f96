"""Describe a release as an entry of the OpenDP deployments registry, where practitioners disclose their deployments.

The registry's public schema is schemas/deployments-schema.yaml of https://github.com/opendp/deployments-registry-data;
the registry is https://registry.opendp.org. The entry has the facts of a statement, as the registry's third tier
requires; the curator adds facts that cannot be computed, such as who publishes and why.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import narrow_interval, round_up
from utmost.core.exact.written_levels import level_name, level_words
from utmost.errors import OutOfRange
from utmost.publish.releases.release_facts import NOISE, ReleaseFacts, short_bar

TO_FILL_IN = "To be filled in"
"""The text of a field that only the curator can fill in."""

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
PRODUCTS = (
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
)
_NO_DATE = "1900-01-01"  # the date in the registry's empty template


@dataclass(frozen=True, slots=True, repr=False)
class Deployment(Display):
    """The curator's description of a release, in the registry's terms; empty fields remain to be filled in.

    Attributes:
        title: Name of the data product.
        curators: Publishers.
        intended_use: Purpose of the release.
        region: Region of the data, or of the laws that apply to them.
        description: Brief description.
        published: Date of publication, YYYY-MM-DD.
        sector: Sector of the data product, one of `SECTORS`; None if left open.
        product: Kind of the data product, one of `PRODUCTS`.
        authors: Authors of the entry.
        sources: Links to the product and to publications about it.

    Raises:
        WrongKind: if a value is no text.
        OutOfRange: if the date is invalid, or if ``sector`` is not in `SECTORS`, or ``product`` not in `PRODUCTS`.
    """

    title: str = ""
    curators: tuple[str, ...] = ()
    intended_use: str = ""
    region: str = ""
    description: str = ""
    published: str = ""
    sector: str | None = None
    product: str = "Summary statistics"
    authors: tuple[str, ...] = ()
    sources: str = ""

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            many = isinstance(value, Sequence) and not isinstance(value, str | bytes)
            if part.name in ("curators", "authors"):
                if not many or not all(isinstance(text, str) and text.strip() for text in value):
                    raise wrong_kind(part.name, "texts", value)
                object.__setattr__(self, part.name, tuple(value))
            elif not isinstance(value, str) and not (part.name == "sector" and value is None):
                raise wrong_kind(part.name, "a text", value)
        for name, allowed in (("sector", SECTORS), ("product", PRODUCTS)):
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise OutOfRange(
                    f"{name} must be one of {', '.join(allowed)}",
                    came=value,
                    remedy=f"Pass one of these words, or leave out {name}=.",
                )
        if self.published:
            try:
                day = date.fromisoformat(self.published)
            except ValueError:
                day = None
            if day is None or day.isoformat() != self.published:
                raise OutOfRange(
                    "published must be a day written as YYYY-MM-DD",
                    came=self.published,
                    remedy="Write, for example, 2026-03-31.",
                )

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the empty fields that the registry requires."""
        required = ("title", "curators", "intended_use", "region", "description", "published", "authors")
        return tuple(name for name in required if not getattr(self, name))


def registry_entry(stated: ReleaseFacts, deployment: Deployment | None = None) -> dict[str, Any]:
    """Return the registry's entry of a release, as mappings and lists; `yaml_text` writes it.

    Args:
        stated: Statement in words.
        deployment: The curator's description of the release.

    Returns:
        An entry that is valid by the registry's schema, with the status "Draft": the curator publishes it.

    Raises:
        OutOfRange: if epsilon is above the largest float, since the registry's epsilon is a float.

    >>> from utmost import Unit
    >>> from utmost.promises import Promise
    >>> from utmost.statements import stated_release
    >>> from utmost import release
    >>> answer = release({"n": [7]}, Promise(columns="n", unit=Unit(1, 1)), epsilon="1/2")
    >>> deployment = Deployment("Counts", ["An Office"], published="2026-01-31")
    >>> entry = registry_entry(stated_release(answer.statement), deployment)
    >>> entry["url_slug"], entry["deployment"]["privacy_loss"]["privacy_parameters"]
    ('counts-an-office-2026', {'epsilon': 0.5})
    """
    if not isinstance(stated, ReleaseFacts):
        raise wrong_kind("stated", "ReleaseFacts", stated)
    deployment = Deployment() if deployment is None else deployment
    if not isinstance(deployment, Deployment):
        raise wrong_kind("deployment", "a Deployment", deployment)
    lines = []
    for noise in stated.of_section(NOISE):
        if noise.bars:
            bars = ", ".join(f"± {short_bar(margin)} at {float(100 * sure):g} %" for sure, margin in noise.bars)
            lines.append(f"- {sentence_of(noise.label)[:-1]}: {noise.value}; margins {bars}.")
    lines += [f"- {sentence_of(stated.mechanism)}"] if stated.mechanism else []
    lines += [
        f"- Implementation: utmost {stated.statement['utmost']}.",
        "- Floating point: the distribution of the noise is exactly the one stated; no float stands between the random "
        "bits and a released value.",
        "- Random bits come from the operating system, through AES-256.",
    ]
    epsilon = float(round_up(narrow_interval(stated.level.epsilon_interval)))
    if epsilon == float("inf"):
        raise OutOfRange(
            "epsilon must fit a float, as the registry requires", came="a level above all floats", where="epsilon"
        )
    parameters, details = {"epsilon": epsilon}, f"Exactly, epsilon = {level_words(stated.level)}{stated.each}"
    if stated.delta is not None:
        details += f", and delta = {stated.delta}"
        parameters["delta"] = round_up(stated.delta)
    details += "."
    is_kept, version = bool(stated.answered) and stated.is_relaxed, stated.statement.get("data_version", 1)
    releases = "One release. "
    if is_kept:
        details += (
            " All answers of this release together cost this epsilon; the answer described here cost "
            f"{level_name(stated.own_level)}."
        )
        releases = (
            "The release is kept in a ledger and may be answered again: a larger epsilon costs its difference from the "
            "largest epsilon so far, a smaller epsilon costs nothing. "
        )
    texts = "" if stated.promise is None else stated.promise.sentences
    trust = "\n".join(f"- {line}" for line in stated.on_trust)
    checked = "Anyone can compute the figures of the statement again, with `utmost verify`."
    entry: dict[str, Any] = {
        "basic": {
            "name": deployment.title or TO_FILL_IN,
            "data_curators": list(deployment.curators) or [TO_FILL_IN],
            "intended_use": deployment.intended_use or TO_FILL_IN,
            "data_product_type": deployment.product,
            "data_product_region": deployment.region or TO_FILL_IN,
            "description": deployment.description or TO_FILL_IN,
            "publication_date": deployment.published or _NO_DATE,
            **({} if deployment.sector is None else {"data_product_sector": deployment.sector}),
        },
        "dp_variant": {
            "variant_name": stated.variant,
            "data_domain": stated.domain,
            "unprotected_quantities": f"{sentence_of(stated.unprotected)} Published without noise: {stated.public}.",
        },
        "privacy_loss": {
            "privacy_unit": sentence_of(stated.unit),
            "privacy_unit_details": f"{texts} Neighbouring: {stated.neighbours}.".lstrip(),
            "privacy_parameters": parameters,
            "privacy_parameters_details": f"{details} {stated.guarantee}",
        },
        "deployment_model": {
            "model_name": "Central",
            "actors": "- The curator holds the true data, draws the noise, and must be trusted with both.\n"
            "- Readers, and anyone who attacks, see what is published, and need not be trusted.",
            "release_type": "Many releases" if is_kept else "One release",
            "release_type_details": f"{releases}Any further release of the same data that is not counted here adds up.",
            "data_source_type": "Static" if version == 1 else "Dynamic",
            "data_source_type_details": f"This is version {version} of the data.",
            "access_type": "Non-interactive",
        },
        "accounting": {"post_processing": sentence_of(stated.after), "composition": sentence_of(stated.composition)},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": sentence_of(stated.before)
            + (f" {sentence_of(stated.beyond_label)[:-1]}: {stated.beyond}." if stated.beyond else ""),
            "mechanisms": "\n".join(lines),
            "justification": f"Why this noise: {stated.why}.",
        },
        "administrative": {
            **({"sources": deployment.sources} if deployment.sources else {}),
            "notes": f"{checked} What no check can show:\n{trust}",
            "registry_authors": list(deployment.authors) or [TO_FILL_IN],
        },
    }
    return {"url_slug": slug_of(entry["basic"]), "status": "Draft", "tier": 3, "deployment": entry}


def slug_of(basic: Mapping[str, Any]) -> str:
    """Return the name of an entry in URLs, as the registry makes it: title, curators and year."""
    parts = (basic["name"], "-".join(basic["data_curators"]), basic["publication_date"].split("-")[0])
    return "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")


def sentence_of(words: str) -> str:
    """Return the words with a capital at the beginning and a full stop at the end."""
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('.') else '.'}"
