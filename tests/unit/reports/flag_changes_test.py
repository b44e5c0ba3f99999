"""Flags in reports: what was raised and what was closed since the issue before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from offdiag.flags.lifecycle import FlagState
from offdiag.flags.severity import Severity
from offdiag.reports.document import read_report, report_document
from offdiag.reports.findings_tables import flags_table
from offdiag.reports.flag_changes import find_flag_changes
from offdiag.reports.headline import further_sentences
from offdiag.reports.html_page import html_page
from offdiag.reports.report import Report
from offdiag.reports.snapshot import FlagFigures, Snapshot
from support.report_figures import report, run, snapshot

RUNS = (run("focal", 0.8), run("plain", 0.7))


def flag(label: str | None = "mel", **changes: Any) -> FlagFigures:
    facts: dict[str, Any] = {
        "run_id": "r_focal",
        "run_name": "focal",
        "rule": "F4",
        "class_label": label,
        "severity": Severity.HIGH,
        "state": FlagState.OPEN,
        "message": f"Recall of '{label}' is 40 points below the rest.",
    }
    return FlagFigures(**facts | changes)


def holding(*flags: FlagFigures, **changes: Any) -> Snapshot:
    return snapshot(RUNS, **{"flags": flags, "n_flags": len(flags)} | changes)


def issues_of(before: Snapshot, now: Snapshot) -> Report:
    """The second issue."""
    return report(now, report(before))


def test_a_flag_that_was_not_there_is_raised_and_one_that_is_gone_is_closed() -> None:
    found = find_flag_changes(holding(flag("mel"), flag("nv")), holding(flag("nv"), flag("df")))

    assert found is not None
    assert [each.class_label for each in found.opened] == ["df"]
    assert [each.class_label for each in found.closed] == ["mel"]


def test_the_same_flags_again_are_no_news() -> None:
    found = find_flag_changes(holding(flag()), holding(flag(message="slightly different")))

    assert found is not None
    assert (found.opened, found.closed) == ((), ())


def test_a_flag_that_was_settled_and_is_open_again_is_raised() -> None:
    settled = flag(state=FlagState.DISMISSED)

    again = find_flag_changes(holding(settled), holding(flag()))
    still = find_flag_changes(holding(settled), holding(settled))
    settled_since = find_flag_changes(holding(flag()), holding(settled))

    assert again is not None
    assert len(again.opened) == 1
    assert still is not None
    assert still.opened == ()
    assert settled_since is not None
    assert settled_since.closed == ()


def test_a_flag_of_a_run_without_figures_is_not_closed() -> None:
    now = replace(holding(), runs=RUNS[1:])

    found = find_flag_changes(holding(flag()), now)

    assert found is not None
    assert found.closed == ()


def test_nothing_is_compared_where_flags_were_left_out_or_not_known() -> None:
    cut = holding(flag(), n_flags=501)
    older = snapshot(RUNS)

    assert find_flag_changes(cut, holding()) is None
    assert find_flag_changes(holding(), cut) is None
    assert find_flag_changes(older, holding(flag())) is None


def test_the_sentences_count_what_was_raised_and_closed_and_is_open() -> None:
    shown = issues_of(holding(flag("mel"), flag("nv")), holding(flag("nv"), flag("df")))

    assert "1 flag was raised and 1 closed since issue 1; 2 are open." in further_sentences(shown)


def test_a_first_issue_says_how_many_are_open_and_lists_them() -> None:
    shown = report(holding(flag("mel"), flag(None, state=FlagState.ACKNOWLEDGED, rule="F5")))
    table = flags_table(shown)

    assert "1 flag is open." in further_sentences(shown)
    assert table is not None
    assert table.title == "Open flags"
    assert [row[:4] for row in table.rows] == [("open", "high", "focal", "mel")]


def test_without_flags_nothing_is_said() -> None:
    shown = issues_of(holding(), holding())

    assert not [text for text in further_sentences(shown) if "flag" in text]
    assert flags_table(shown) is None


def test_too_many_flags_are_said_to_be_cut() -> None:
    shown = issues_of(holding(flag()), holding(flag(), n_flags=700))

    assert further_sentences(shown)[0] == (
        "700 flags fire; this report holds the gravest 1 and does not compare them with the "
        "issue before."
    )


def test_the_table_holds_what_was_raised_before_what_was_closed() -> None:
    table = flags_table(issues_of(holding(flag("mel")), holding(flag("df"))))

    assert table is not None
    assert table.title == "Flags raised and closed since issue 1"
    assert [(row[0], row[3]) for row in table.rows] == [("raised", "df"), ("closed", "mel")]
    assert table.note == "A closed flag says what held when it still fired."


def test_flags_survive_the_document_and_hostile_ones_are_text() -> None:
    shown = report(holding(flag("<script>alert(1)</script>", message="<img src=x>")))

    read = read_report(report_document(shown))

    assert read == shown
    assert "<script>alert" not in html_page(shown)
    assert "&lt;img src=x&gt;" in html_page(shown)


def test_a_report_of_a_version_without_flags_can_still_be_read() -> None:
    document = report_document(report(holding(flag())))
    for key in ("flags", "n_flags", "costs"):
        del document["snapshot"][key]
    for key in ("flags", "costs_before"):
        del document["findings"][key]

    read = read_report(document)

    assert read is not None
    assert read.snapshot.flags is None
