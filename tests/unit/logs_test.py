"""Log lines: one fact a line, in one form, wherever it comes from, and without secrets."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from offdiag.logs import LogFormat, log_to_stderr

FORGED = 'run"\n2026-01-01 level=error event=broken_in\r\x1b[2K\u2028={"a": 1}'
SECRETS = {"token": "offdiag_0123456789abcdefghijABCDEFGHIJ-_", "password": "hunter2hunter2"}


@pytest.fixture(autouse=True)
def unconfigured_afterwards() -> Iterator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = before
    root.setLevel(level)


def test_a_line_holds_one_fact_as_keys_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr()

    structlog.get_logger().info("run_finished", run="r_1", n_samples=3)

    written = capsys.readouterr().err
    assert "level=info event=run_finished" in written
    assert "n_samples=3" in written


def test_programs_get_an_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(form="json")

    structlog.get_logger().info("run_finished", run="r_1", n_samples=3)

    told = json.loads(capsys.readouterr().err)
    assert told.pop("timestamp").endswith("Z")
    assert told == {"level": "info", "event": "run_finished", "run": "r_1", "n_samples": 3}


def test_lines_follow_standard_error_when_it_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = io.StringIO(), io.StringIO()
    logger = structlog.get_logger()
    monkeypatch.setattr(sys, "stderr", first)
    log_to_stderr()
    first.close()
    monkeypatch.setattr(sys, "stderr", second)

    logger.info("still_here")
    logging.getLogger("library").warning("so am I")

    assert "event=still_here" in second.getvalue()
    assert "so am I" in second.getvalue()


def test_the_least_that_is_said_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr("warning")
    structlog.get_logger().info("quiet")
    logging.getLogger("library").info("quiet too")
    structlog.get_logger().warning("loud")

    (line,) = capsys.readouterr().err.splitlines()
    assert "event=loud" in line


@pytest.mark.parametrize("form", ["logfmt", "json"])
def test_libraries_and_their_tracebacks_come_in_the_same_form(
    form: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    log_to_stderr(form=form)

    try:
        int(FORGED)
    except ValueError:
        logging.getLogger("flask").exception("it failed: %s", FORGED)

    (line,) = capsys.readouterr().err.splitlines()
    assert "flask" in line
    assert "Traceback" in line


@pytest.mark.parametrize("form", ["logfmt", "json"])
def test_what_somebody_made_up_begins_no_line(
    form: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    log_to_stderr(form=form)

    structlog.get_logger().info("request", path=FORGED)

    written = capsys.readouterr().err
    (line,) = written.splitlines()
    assert written.endswith("\n")
    assert not {"\r", "\x1b", "\u2028"} & set(line)
    if form == "json":
        assert json.loads(line)["path"] == FORGED


@pytest.mark.parametrize("form", ["logfmt", "json"])
@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ada:{password}@db.example.org/registry is away",
        "Authorization: Bearer {token}",
        "bearer {password}",
        "connecting with host=db password={password} user=ada",
        "the token {token} was used",
        "Cookie: session={password}",
    ],
)
def test_secrets_are_masked_wherever_they_come_from(
    text: str, form: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    log_to_stderr(form=form)

    structlog.get_logger().info("seen", text=text.format(**SECRETS))
    logging.getLogger("driver").warning(text.format(**SECRETS))
    structlog.get_logger().info("given", **SECRETS)

    written = capsys.readouterr().err
    assert "***" in written
    assert not [secret for secret in SECRETS.values() if secret in written]
