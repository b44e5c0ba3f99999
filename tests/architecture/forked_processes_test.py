"""Forked processes see what the test sees that forks them, and nothing of earlier tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.process_notes import note_variable
from support.worker_processes import forked

NAME = "OFFDIAG_NOTED_BY_A_TEST"


@pytest.mark.processes
def test_a_process_finds_the_variables_of_the_moment_in_which_it_was_forked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in ("first", "second"):
        monkeypatch.setenv(NAME, value)
        process = forked(note_variable, NAME, str(tmp_path / value))
        process.join(60)
        assert (tmp_path / value).read_text() == value
