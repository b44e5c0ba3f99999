from datetime import UTC, datetime, timedelta

import pytest

from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.store.evaluations import EvaluationWork
from offdiag_web.components.controls import (
    moment,
    orientation_chip,
    orientation_warning,
    paging,
    spell_short,
    state_chip,
    tag_text,
)

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
UPLOADED = (SourceOrientation.ACTUAL_ROWS, SourceOrientation.ACTUAL_COLUMNS)


def test_a_queued_run_says_since_when_and_which_job() -> None:
    work = EvaluationWork(481, "todo", NOW - timedelta(seconds=12), 0, None)

    chip = state_chip(RunState.FINISHED, work=work, n_predictions=9, now=NOW)

    assert (chip.text, chip.detail, chip.tone) == ("metrics queued 12 s ago", "job 481", "busy")


def test_a_failed_run_shows_the_last_line_of_its_error() -> None:
    error = "Traceback (most recent call last):\n  File ...\nValueError: wrong shape\n"
    work = EvaluationWork(7, "dead", NOW, 5, error)

    chip = state_chip(RunState.FAILED, work=work, n_predictions=9, now=NOW)

    assert chip.detail == "job 7 after 5 attempts: ValueError: wrong shape"
    assert chip.tone == "error"


def test_dead_work_counts_as_failed_also_before_the_run_says_so() -> None:
    work = EvaluationWork(7, "dead", NOW, 1, None)

    chip = state_chip(RunState.FINISHED, work=work, n_predictions=9, now=NOW)

    assert (chip.text, chip.detail) == ("evaluation failed", "job 7 after 1 attempt")


def test_an_open_run_says_how_much_was_logged() -> None:
    chip = state_chip(RunState.OPEN, work=None, n_predictions=65_536, now=NOW)

    assert (chip.text, chip.detail) == ("open", "65,536 predictions logged so far")


@pytest.mark.parametrize("source", list(SourceOrientation))
@pytest.mark.parametrize("verdict", [None, *OrientationVerdict])
def test_the_chip_always_says_what_is_stored(
    source: SourceOrientation, verdict: OrientationVerdict | None
) -> None:
    assert orientation_chip(source, verdict).text.startswith("rows = actual; ")


def test_each_verdict_on_an_uploaded_matrix_reads_differently() -> None:
    texts = {
        orientation_chip(SourceOrientation.ACTUAL_COLUMNS, verdict).text
        for verdict in OrientationVerdict
    }

    assert len(texts) == len(OrientationVerdict)


def test_a_matrix_counted_elsewhere_names_the_program_and_what_speaks_against_it() -> None:
    chips = {
        verdict: orientation_chip(SourceOrientation.ACTUAL_ROWS, verdict, counted_on="duckdb")
        for verdict in OrientationVerdict
    }

    sure = chips[OrientationVerdict.CANONICAL]
    assert (sure.text, sure.tone) == ("rows = actual; counted by duckdb", "good")
    assert chips[OrientationVerdict.TRANSPOSED].text.endswith("duckdb, looks transposed")


@pytest.mark.parametrize("source", UPLOADED)
@pytest.mark.parametrize("verdict", list(OrientationVerdict))
def test_only_doubtful_orientations_carry_a_warning(
    source: SourceOrientation, verdict: OrientationVerdict
) -> None:
    is_doubtful = verdict in {OrientationVerdict.TRANSPOSED, OrientationVerdict.INCONSISTENT}

    assert (orientation_warning(source, verdict) is not None) == is_doubtful
    assert (orientation_chip(source, verdict).tone == "warning") == is_doubtful


def test_the_way_out_of_a_transposed_upload_is_the_other_orientation() -> None:
    warning = orientation_warning(SourceOrientation.ACTUAL_ROWS, OrientationVerdict.TRANSPOSED)

    assert warning is not None
    assert 'orientation="actual_columns"' in warning.explanation


@pytest.mark.parametrize(
    ("value", "text"),
    [("derm", "team=derm"), (True, "team"), (None, "team"), (False, "team=False"), (3, "team=3")],
)
def test_a_tag_without_a_telling_value_is_its_key(value: object, text: str) -> None:
    assert tag_text("team", value) == text


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(seconds=-30), "just now"),
        (timedelta(seconds=42), "42 s ago"),
        (timedelta(minutes=4, seconds=59), "4 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=5), "5 d ago"),
        (timedelta(days=60), "21 Sep 2026"),
    ],
)
def test_moments_are_told_from_now(age: timedelta, text: str) -> None:
    assert moment(NOW - age, now=NOW).relative == text


def test_moments_are_also_given_in_full_and_for_machines() -> None:
    shown = moment(datetime(2026, 11, 20, 11, 30, 15, 250_000, tzinfo=UTC), now=NOW)

    assert shown.full == "2026-11-20 11:30:15 UTC"
    assert shown.machine == "2026-11-20T11:30:15.250000+00:00"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0031, "3 ms"), (0.9999, "1.0 s"), (12.34, "12.3 s"), (150.0, "2 min")]
)
def test_durations_are_told_in_a_fitting_unit(seconds: float, text: str) -> None:
    assert spell_short(seconds) == text


@pytest.mark.parametrize(("start", "first"), [(0, 0), (20, 20), (40, 20), (900, 20)])
def test_beyond_the_last_line_is_the_last_page(start: int, first: int) -> None:
    page = paging(40, start, per_page=20, words=("run", "runs"), url=str)

    assert (page.start, page.end) == (first, first + 20)
