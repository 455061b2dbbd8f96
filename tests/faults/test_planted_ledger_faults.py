"""Faults planted in the ledger, one at a time, and the check that catches each."""

from dataclasses import replace

import pytest

from faults.ledger_checks import CHECKS

# Faults are planted in the code itself.
# Faults are planted in these modules.
# Faults are planted where the code stands.
from utmost.core.sampling import draw, integers, level_draws
from utmost.noise import Geometric
from utmost.promises import Until
from utmost.publish.ledger import block_encryption as vault
from utmost.publish.ledger import event_log, publishing, relaxing, responses, verification
from utmost.publish.ledger import ledger as front
from utmost.publish.ledger.block_encryption import packed
from utmost.publish.ledger.key import Key
from utmost.publish.promises.level_steps import Step
from utmost.publish.promises.response_noise import DrawnNoise
from utmost.publish.releases.source import Source


def fresh_noise_on_relax(plant):
    def at_highest(self, column, block, count, below):
        law = Geometric(self.lattice.of(self.step.to))
        return integers.joined(draw.draws(law, count, randomness=self.randomness, method=self.method), count)

    plant.setattr(DrawnNoise, "at_highest", at_highest)


def the_bridge_ignored(plant):
    real = DrawnNoise.from_higher

    def from_higher(self, column, block, count, apart):
        return real(replace(self, step=replace(self.step, lower=None)), column, block, count, None)

    plant.setattr(DrawnNoise, "from_higher", from_higher)


def levels_mixed_up(plant):
    """The noise of a response is scaled for the level that is there already."""
    real = Step.drawn

    def drawn(self, *rest):
        return real(replace(self, to=self.to.scaled("1/2")) if self.how == "fresh" else self, *rest)

    plant.setattr(Step, "drawn", drawn)


def noise_reused_on_changed_data(plant):
    """Nobody looks whether the values are those that were published."""
    plant.setattr(relaxing, "check_unchanged", lambda *_: None)


def derived_noise_without_the_version(plant):
    """The key of derived noise forgets what is released."""
    real = Key.derived
    plant.setattr(Key, "derived", lambda self, *purpose: real(self, *(purpose[:1] + purpose[-3:])))


def the_chain_not_checked(plant):
    for module in (event_log, verification):
        plant.setattr(module, "check_chain", lambda key, number, before, rows: rows[-1][2] if rows else before)


def digests_not_checked(plant):
    def parts(rows, event, count, root):
        return (rows.part(event, part) for part in range(count))

    plant.setattr(responses, "checked_parts", parts)


def one_key_for_all_levels(plant):
    real = responses.level_seal
    plant.setattr(
        responses, "level_seal", lambda *about, is_sealed: replace(real(*about, is_sealed=is_sealed), secret=bytes(32))
    )


def facts_not_bound(plant):
    """Keys and seals depend on the name of the release alone."""
    plant.setattr(vault, "response_facts", lambda identity, about, level: about.name.encode().ljust(32))


def blocks_as_long_as_the_values_need(plant):
    plant.setattr(responses, "stored", lambda block, word: packed(block))


def the_same_data_not_looked_up(plant):
    plant.setattr(publishing, "check_no_duplicate_data", lambda page, asked, digests: None)


def values_written_down(plant):
    """The commitment is the values themselves."""
    for module in (front, publishing):
        plant.setattr(
            module,
            "commitment",
            lambda key, name, version, source: str(source.columns["n"].tolist()).encode(),
            raising=False,
        )


def the_rule_reads_the_values(plant):
    real, met, true = Source.check_sizes, Until.is_met, []

    def seen(self):
        true[:] = [dict(self.columns)]
        real(self)

    plant.setattr(Source, "check_sizes", seen)
    plant.setattr(Until, "is_met", lambda self, table, columns, noise: met(self, true[0], columns, noise))


def the_first_level_alone_reserved(plant):
    real = publishing.check_budgets

    def checked(state, spends):
        real(state, [(dataset, level.scaled("1/16"), *beside) for dataset, level, *beside in spends])

    plant.setattr(publishing, "check_budgets", checked)


FAULTS = {
    fresh_noise_on_relax: "joint_law",
    the_bridge_ignored: "joint_law",
    levels_mixed_up: "joint_law",
    noise_reused_on_changed_data: "changed_data_refused",
    derived_noise_without_the_version: "changed_data_get_noise_of_their_own",
    the_chain_not_checked: "edits_are_told",
    digests_not_checked: "edited_responses_are_told",
    one_key_for_all_levels: "a_level_key_opens_its_level_alone",
    facts_not_bound: "believed_facts_are_the_published_ones",
    blocks_as_long_as_the_values_need: "lengths_tell_nothing",
    the_same_data_not_looked_up: "the_same_data_are_told",
    values_written_down: "no_value_is_stored",
    the_rule_reads_the_values: "released_values_decide",
    the_first_level_alone_reserved: "the_last_level_is_reserved",
}


@pytest.fixture(autouse=True)
def _no_sampler_survives():
    """Samplers are kept by kernel: one made under a fault must not serve another test."""
    for cache in (draw._many, level_draws._tightening, level_draws._bridge):
        cache.cache_clear()
    yield
    for cache in (draw._many, level_draws._tightening, level_draws._bridge):
        cache.cache_clear()


@pytest.mark.parametrize("check", CHECKS)
def test_the_real_ledger_passes(tmp_path, check):
    assert CHECKS[check](tmp_path)


@pytest.mark.parametrize(("fault", "check"), FAULTS.items(), ids=[f"{f.__name__}-{c}" for f, c in FAULTS.items()])
def test_a_fault_is_caught(tmp_path, monkeypatch, fault, check):
    fault(monkeypatch)
    assert not CHECKS[check](tmp_path), f"{fault.__name__} passed {check}"


def test_every_check_has_its_fault():
    assert set(FAULTS.values()) == set(CHECKS)
