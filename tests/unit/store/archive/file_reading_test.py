"""Reading an archive: whatever byte is wrong, it is refused or reads as it was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.store.archive.file import Manifest, ignored, opened_archive, written_archive

PARTS = {"run": b"one " * 10, "dataset": b"", "flag": bytes(range(64))}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive of three parts, which nobody looks into here."""
    path = tmp_path / "archive.zip"
    manifest = Manifest("backup", "0001_registry", "2026-11-20T00:00:00", "offdiag", "here", {})
    with written_archive(path, manifest, n_rows=3, progress=ignored) as writer:
        for table, data in PARTS.items():
            writer.add(table, data, n_rows=1)
    return path


def read(path: Path) -> dict[str, bytes]:
    with opened_archive(path, "backup") as reader:
        return {part.table: reader.read(part) for part in reader.manifest.parts}


def test_what_was_written_is_read(archive: Path) -> None:
    assert read(archive) == PARTS


def test_with_any_byte_changed_it_is_refused_or_reads_the_same(archive: Path) -> None:
    whole = archive.read_bytes()
    rng = np.random.default_rng(3)
    refused = 0

    for place, flip in zip(range(len(whole)), rng.integers(1, 256, len(whole)), strict=True):
        spoilt = bytearray(whole)
        spoilt[place] ^= int(flip)
        archive.write_bytes(spoilt)
        try:
            assert read(archive) == PARTS
        except InvalidInput:
            refused += 1

    # The rest are bytes that say nothing about the content, such as the time of writing.
    assert refused > len(whole) * 0.7


def test_torn_anywhere_it_is_refused(archive: Path) -> None:
    whole = archive.read_bytes()

    for size in range(len(whole)):
        archive.write_bytes(whole[:size])

        with pytest.raises(InvalidInput, match="not a valid archive"):
            read(archive)
