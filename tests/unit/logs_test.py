"""Log lines go to the standard error there is when they are written."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest
import structlog

from offdiag.logs import log_to_stderr


@pytest.fixture(autouse=True)
def unconfigured_afterwards() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def test_a_line_holds_one_fact_as_keys_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr()

    structlog.get_logger().info("run_finished", run="r_1", n_samples=3)

    written = capsys.readouterr().err
    assert "level=info event=run_finished" in written
    assert "n_samples=3" in written


def test_lines_follow_standard_error_when_it_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = io.StringIO(), io.StringIO()
    logger = structlog.get_logger()
    monkeypatch.setattr(sys, "stderr", first)
    log_to_stderr()
    first.close()
    monkeypatch.setattr(sys, "stderr", second)

    logger.info("still_here")

    assert "event=still_here" in second.getvalue()
