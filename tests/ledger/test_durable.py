"""File names survive a power cut."""

import os

import pytest

from utmost.ledger import Ledger


@pytest.mark.skipif(os.name != "posix", reason="directories cannot be synced here")
def test_a_new_name_is_synced_with_its_directory(tmp_path, monkeypatch):
    """The directory is synced, not only the file: for a new name, and after writing the key, the mark and a backup."""
    real, synced = os.fsync, []

    def noting(file):
        synced.append(os.fstat(file).st_ino)
        real(file)

    monkeypatch.setattr(os, "fsync", noting)
    here = tmp_path.stat().st_ino
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        assert synced.count(here) == 2
        ledger.backup(tmp_path / "backup")
        assert synced.count(here) == 3
