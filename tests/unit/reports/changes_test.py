"""A change is one only beyond an interval, whichever way the two values came about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from offdiag.domain.values import MetricValue
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import Severity
from offdiag.reports.changes import (
    Origin,
    find_changes,
    find_flag_changes,
    rank_changes,
    ranked,
    ranks,
)
from offdiag.reports.document import read_report, report_document
from offdiag.reports.files import html_page
from offdiag.reports.finding_tables import flags_table
from offdiag.reports.headline import further_sentences, headline
from offdiag.reports.report import Report
from offdiag.reports.scope import DEFAULT_METRICS, Condition, Side
from offdiag.reports.snapshot import (
    MOST_RUNS,
    FlagFigures,
    RunFigures,
    RunName,
    Snapshot,
    TruthFigures,
)
from offdiag.reports.tables import runs_table
from support.optional import present
from support.report_figures import SCOPE, UNDEFINED, report, run, snapshot, value

METRICS = ("mcc",)
EARLY, LATE = datetime(2026, 11, 2, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC)


def test_a_run_with_the_same_inputs_is_not_even_compared() -> None:
    assert find_changes([run("a", 0.8)], [run("a", 0.8)], METRICS).n_compared == 0


@pytest.mark.parametrize(("now", "is_beyond"), [(0.8199, False), (0.8201, True), (0.7799, True)])
def test_a_rescored_run_changed_when_it_left_its_old_interval(now: float, is_beyond: bool) -> None:
    found = find_changes([run("a", 0.8, classes=())], [run("a", now, classes=())], METRICS)

    assert bool(found.beyond) is is_beyond
    assert found.n_compared == 1


def test_a_successor_is_compared_with_the_newest_run_of_its_name() -> None:
    before = [
        run("a", 0.5, id="r_1", logged_at=EARLY, classes=()),
        run("a", 0.8, id="r_2", logged_at=LATE, classes=()),
    ]
    after = [*before, run("a", 0.5, id="r_3", logged_at=LATE.replace(day=16), classes=())]

    (change,) = find_changes(before, after, METRICS).beyond

    assert change.run_id == "r_3"
    assert change.origin is Origin.SUCCEEDED
    assert change.difference == pytest.approx(-0.3)


def test_a_weighted_run_is_no_predecessor_and_no_successor() -> None:
    before = [
        run("a", 0.5, id="r_1", logged_at=EARLY, classes=()),
        run("a", 0.8, id="r_2", logged_at=LATE, has_weights=True, classes=()),
    ]
    later, last = LATE.replace(day=16), LATE.replace(day=17)
    plain = run("a", 0.6, id="r_3", logged_at=later, classes=())
    weighted = run("a", 0.1, id="r_4", logged_at=last, has_weights=True, classes=())

    found = find_changes(before, [*before, plain, weighted], METRICS)

    # 0.6 minus 0.5: of the runs without weights alone.
    assert [(each.run_id, each.before.value) for each in found.beyond] == [("r_3", 0.5)]
    assert found.n_compared == 1


def test_a_weighted_run_succeeds_the_one_before_of_its_name_with_the_same_weights() -> None:
    before = [
        run("a", 0.5, id="r_1", logged_at=EARLY, has_weights=True, classes=()),
        run("a", 0.8, id="r_2", logged_at=LATE, classes=()),
    ]
    known = replace(before[0], weights="w1")
    new = run("a", 0.1, id="r_3", logged_at=LATE.replace(day=16), has_weights=True, classes=())

    def compared(weights: str | None) -> list[tuple[str, float | None]]:
        after = [known, before[1], replace(new, weights=weights)]
        found = find_changes(before, after, METRICS)
        return [(each.run_id, each.before.value) for each in found.beyond]

    assert compared("w1") == [("r_3", 0.5)]
    assert compared("w2") == compared(None) == []


def test_only_the_newest_of_several_successors_is_compared() -> None:
    before = [run("a", 0.8, id="r_1", logged_at=EARLY, classes=())]
    after = [
        run("a", 0.1, id="r_2", logged_at=LATE, classes=()),
        run("a", 0.2, id="r_3", logged_at=LATE.replace(day=10), classes=()),
    ]

    found = find_changes(before, after, METRICS)

    assert [change.run_id for change in found.beyond] == ["r_3"]


def test_corrected_labels_are_no_difference_between_a_run_and_its_successor() -> None:
    before = [run("a", 0.8, id="r_1", logged_at=EARLY, truth_number=1, classes=())]
    corrected = run("a", 0.5, id="r_1", logged_at=EARLY, truth_number=2, classes=())
    successor = run("a", 0.5, id="r_2", logged_at=LATE, truth_number=2, classes=())

    (change,) = find_changes(before, [corrected, successor], METRICS).beyond

    assert (change.origin, change.run_id) == (Origin.RESCORED, "r_1")


def test_a_better_successor_is_compared_on_the_labels_that_count_now() -> None:
    before = [run("a", 0.8, id="r_1", logged_at=EARLY, truth_number=1, classes=())]
    corrected = run("a", 0.5, id="r_1", logged_at=EARLY, truth_number=2, classes=())
    successor = run("a", 0.8, id="r_2", logged_at=LATE, truth_number=2, classes=())

    found = find_changes(before, [corrected, successor], METRICS).beyond

    (change,) = [each for each in found if each.origin is Origin.SUCCEEDED]
    assert change.difference == pytest.approx(0.3)


@pytest.mark.parametrize("measured", [{"truth_number": 2}, {"suite_version": 99}])
def test_a_run_that_is_gone_is_not_compared_by_other_labels_or_definitions(
    measured: dict[str, int],
) -> None:
    before = [run("a", 0.8, id="r_1", logged_at=EARLY, truth_number=1, classes=())]
    after = [
        run("a", 0.5, id="r_2", logged_at=LATE, **{"truth_number": 1, **measured}, classes=())
    ]

    assert find_changes(before, after, METRICS).n_compared == 0


@pytest.mark.parametrize("then", [{"mcc": 1}, {}])
def test_a_run_that_is_gone_is_not_compared_by_a_redefined_metric(then: dict[str, int]) -> None:
    """Nor by one of which an edition of an earlier version does not tell the definition."""
    earlier = run("a", 0.8, id="r_1", logged_at=EARLY, classes=())
    later = run("a", 0.5, id="r_2", logged_at=LATE, classes=())
    stored = read_report(report_document(report(snapshot([earlier], declared=then))))

    def changed(*after: RunFigures, version: int) -> set[str]:
        found = report(snapshot(after, declared={"mcc": version}), stored).findings.changes
        return {each.metric for each in found.beyond if each.run_id == "r_2"}

    assert "mcc" not in changed(later, version=2)
    assert "balanced_accuracy" in changed(later, version=2)
    assert "mcc" in changed(earlier, later, version=2), "both by the new definition"
    assert ("mcc" in changed(later, version=1)) is bool(then)


def test_two_runs_that_overlap_a_little_may_still_differ() -> None:
    # 0.80 ± 0.02 and 0.83 ± 0.02 overlap, and yet the difference is 0.03 ± 0.0283.
    before = [run("a", 0.80, id="r_1", logged_at=EARLY, classes=())]
    after = [run("a", 0.83, id="r_2", logged_at=LATE, classes=())]

    (change,) = find_changes(before, after, METRICS).beyond

    assert change.low == pytest.approx(0.03 - 0.02 * 2**0.5)
    assert change.high == pytest.approx(0.03 + 0.02 * 2**0.5)


def test_the_more_values_are_compared_the_more_a_difference_of_runs_must_be() -> None:
    metrics = tuple(f"m{number}" for number in range(20))
    before, after = (
        [run("a", 0.8, id=run_id, logged_at=at, classes=(), metrics=dict.fromkeys(metrics, each))]
        for run_id, at, each in (("r_1", EARLY, value(0.80)), ("r_2", LATE, value(0.83)))
    )

    alone, together = (find_changes(before, after, keys) for keys in (metrics[:1], metrics))

    assert len(alone.beyond) == 1
    assert not together.beyond
    assert together.n_compared == 20


def test_without_an_interval_nothing_can_be_said() -> None:
    plain = MetricValue(0.8)

    found = find_changes(
        [run("a", 0.8, metrics={"mcc": plain}, classes=())],
        [run("a", 0.1, metrics={"mcc": MetricValue(0.1)}, classes=())],
        METRICS,
    )
    assert not found.beyond


def test_becoming_undefined_and_becoming_defined_are_changes() -> None:
    defined, undefined = run("a", 0.8, classes=()), run("a", 0.1, classes=())
    undefined = replace(undefined, metrics={"mcc": UNDEFINED})

    lost = find_changes([defined], [undefined], METRICS).beyond
    gained = find_changes([undefined], [defined], METRICS).beyond

    assert [change.difference for change in (*lost, *gained)] == [None, None]


@pytest.mark.parametrize("now", [{"id": "r_2", "logged_at": LATE}, {"n_scored": 900}])
def test_other_samples_or_another_run_may_leave_a_value_undefined_by_chance(
    now: dict[str, Any],
) -> None:
    defined = run("a", 0.8, classes=())
    undefined = run("a", 0.1, classes=(), metrics={"mcc": UNDEFINED}, **now)

    assert not find_changes([defined], [undefined], METRICS).beyond
    assert not find_changes([undefined], [defined], METRICS).beyond


@pytest.mark.parametrize(("n_runs", "is_beyond"), [(1, True), (2, False)])
def test_the_more_runs_have_more_labels_the_more_a_value_must_change(
    n_runs: int, is_beyond: bool
) -> None:
    # Half widths of .02: 1.1 of them beyond a single value, 1.14 beyond two together.
    names = [f"m{place}" for place in range(n_runs)]
    few = [run(name, 0.8, classes=(), n_scored=500) for name in names]
    all_of_them = [run(name, 0.822, classes=()) for name in names]

    assert bool(find_changes(few, all_of_them, METRICS).beyond) is is_beyond
    # Corrected labels are no further samples: each run is looked at alone.
    corrected = [run(name, 0.8, classes=()) for name in names]
    assert find_changes(corrected, all_of_them, METRICS).beyond


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["mean_cost", "mcc", "total_cost"]),
        ({"id": "r_2", "logged_at": LATE}, ["mcc", "total_cost"]),
    ],
)
def test_changes_are_sorted_by_widths_of_their_intervals_whatever_their_units(
    changes: dict[str, Any], expected: list[str]
) -> None:
    metrics = ("mcc", "total_cost", "mean_cost")
    figures = [
        {"mcc": value(0.8), "total_cost": value(500, 100), "mean_cost": value(0.5, 0.1)},
        {"mcc": value(0.9), "total_cost": value(800, 100), "mean_cost": UNDEFINED},
    ]
    before, after = (
        run("a", level, metrics=each, classes=(), **of_run)
        for level, each, of_run in zip((0.8, 0.9), figures, ({}, changes), strict=True)
    )

    found = find_changes([before], [after], metrics).beyond

    assert [each.metric for each in found] == expected


def test_classes_are_matched_by_name_not_by_place() -> None:
    before, after = run("a", 0.8), run("a", 0.81)
    after = replace(after, classes=after.classes[::-1])

    assert not find_changes([before], [after], METRICS).beyond


def test_slices_are_compared_with_the_same_slice_only() -> None:
    before = [run("a", 0.8, classes=()), run("a", 0.5, slice="country=DE", classes=())]
    after = [run("a", 0.81, classes=()), run("a", 0.4, slice="country=DE", classes=())]

    (change,) = find_changes(before, after, METRICS).beyond

    assert change.slice == "country=DE"


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


def editions_of(before: Snapshot, now: Snapshot) -> Report:
    """The second edition."""
    return report(now, report(before))


def test_a_flag_that_was_not_there_is_raised_and_one_that_is_gone_is_closed() -> None:
    found = find_flag_changes(holding(flag("mel"), flag("nv")), holding(flag("nv"), flag("df")))

    assert found is not None
    assert [each.class_label for each in found.opened] == ["df"]
    assert [each.class_label for each in found.closed] == ["mel"]


def test_flags_of_a_run_that_is_back_are_no_news() -> None:
    shown = holding(flag("mel"))
    first = report(shown)
    without = report(snapshot(RUNS[1:], flags=()), first)

    found = report(replace(shown, flags=(flag("mel"), flag("nv")), n_flags=2), without,
                   older=[without, first])  # fmt: skip

    assert found.findings.returned == ("r_focal",)
    assert [each.class_label for each in present(found.findings.flags).opened] == ["nv"]


def test_a_run_that_came_for_one_that_is_gone_is_not_new_where_only_the_newest_are_shown() -> None:
    newer, older = run("newer", 0.8, logged_at=LATE), run("older", 0.7, logged_at=EARLY)
    later = run("later", 0.7, logged_at=LATE.replace(day=16))
    before = report(snapshot([newer], n_matching=MOST_RUNS + 1))

    now = report(snapshot([newer, older, later], n_matching=MOST_RUNS + 1), before)

    assert now.findings.new_runs == ("r_later",)


@pytest.mark.parametrize("why", ["waiting", "failed"])
def test_a_run_is_new_in_the_first_edition_that_has_its_figures(why: str) -> None:
    first = report(snapshot(RUNS[1:]))
    without = report(snapshot(RUNS[1:], **{why: (RunName("r_focal", "focal"),)}), first)

    found = report(snapshot(RUNS), without, older=[without, first])

    assert (found.findings.new_runs, found.findings.returned) == (("r_focal",), ())


def test_an_edition_without_runs_is_not_one_about_other_samples() -> None:
    first = report(snapshot(RUNS))
    empty = report(snapshot([], truth=None), first)
    again = report(snapshot(RUNS), empty, older=[empty, first])

    assert headline(empty) == headline(again) == "No change exceeds its interval."
    assert empty.findings.gone == ("focal", "plain")
    assert (again.findings.returned, again.findings.new_runs) == (("r_focal", "r_plain"), ())


def test_the_trend_goes_on_after_an_edition_without_runs_unless_the_samples_are_others() -> None:
    first = report(snapshot(RUNS))
    empty = report(snapshot([], truth=None), first)
    still = report(snapshot([], truth=None), empty)
    other = TruthFigures(7, 6, "another digest", 900, 900)

    same, others = (
        report(snapshot(RUNS, truth=truth), still, older=[still, empty, first])
        for truth in (first.snapshot.truth, other)
    )

    assert [point.run_name for point in same.history] == ["focal", None, None, "focal"]
    assert [point.run_name for point in others.history] == ["focal"]


def test_an_alert_on_a_run_that_is_back_is_not_new_if_its_last_edition_warned_of_it() -> None:
    scope = replace(SCOPE, alerts=(Condition("mcc", Side.BELOW, 0.5),))
    good, bad = run("back", 0.7), run("back", 0.3)
    first, second = (report(snapshot([each]), scope=scope) for each in (bad, good))
    without = report(snapshot([run("stays", 0.7)]), scope=scope)

    def is_new(*older: Report) -> bool:
        now = report(snapshot([bad]), without, scope=scope, older=[without, *older])
        (alert,) = now.findings.alerts.raised
        return alert.is_new

    assert not is_new(first)
    assert not is_new(first, second)
    assert is_new(second, first)
    assert is_new()


def test_the_same_flags_again_are_no_news() -> None:
    found = find_flag_changes(holding(flag()), holding(flag(message="slightly different")))

    assert found is not None
    assert (found.opened, found.closed) == ((), ())


def test_a_flag_that_was_settled_and_is_open_again_is_reopened() -> None:
    settled = flag(state=FlagState.DISMISSED)

    again = find_flag_changes(holding(settled), holding(flag()))
    still = find_flag_changes(holding(settled), holding(settled))
    settled_since = find_flag_changes(holding(flag()), holding(settled))

    assert again is not None
    assert again.opened == ()
    assert [(each.flag.class_label, each.why) for each in again.reopened] == [("mel", "reopened")]
    assert still is not None
    assert (still.opened, still.reopened) == ((), ())
    assert present(settled_since).closed == ()


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (flag(snoozed_until=LATE), "snooze ended"),
        (flag(severity=Severity.CRITICAL), "more severe"),
        (flag(), "reopened"),
    ],
)
def test_a_flag_whose_snooze_ended_is_not_said_to_be_raised(now: FlagFigures, why: str) -> None:
    shown = editions_of(holding(flag(state=FlagState.SNOOZED)), holding(now))
    table = flags_table(shown)

    assert (
        "0 flags were raised, 1 reopened and 0 closed since edition 1; 1 is open."
    ) in further_sentences(shown)
    assert [(row[0], row[3]) for row in present(table).rows] == [(why, "mel")]


def test_a_flag_of_a_run_without_figures_is_not_closed() -> None:
    now = replace(holding(), runs=RUNS[1:])

    found = present(find_flag_changes(holding(flag()), now))

    assert found.closed == ()


def test_nothing_is_compared_where_flags_were_left_out_or_not_known() -> None:
    cut = holding(flag(), n_flags=501)
    older = snapshot(RUNS)

    assert find_flag_changes(cut, holding()) is None
    assert find_flag_changes(holding(), cut) is None
    assert find_flag_changes(older, holding(flag())) is None


def test_the_sentences_count_what_was_raised_and_closed_and_is_open() -> None:
    shown = editions_of(holding(flag("mel"), flag("nv")), holding(flag("nv"), flag("df")))

    assert "1 flag was raised and 1 closed since edition 1; 2 are open." in further_sentences(
        shown
    )


def test_a_first_edition_says_how_many_are_open_and_lists_them() -> None:
    shown = report(holding(flag("mel"), flag(None, state=FlagState.ACKNOWLEDGED, rule="F5")))
    table = flags_table(shown)

    assert "1 flag is open." in further_sentences(shown)
    assert present(table).title == "Open flags"
    assert [row[:4] for row in present(table).rows] == [("open", "high", "focal", "mel")]


def test_without_flags_nothing_is_said() -> None:
    shown = editions_of(holding(), holding())

    assert not [text for text in further_sentences(shown) if "flag" in text]
    assert flags_table(shown) is None


def test_too_many_flags_are_said_to_be_cut() -> None:
    shown = editions_of(holding(flag()), holding(flag(), n_flags=700))

    assert further_sentences(shown)[0] == (
        "700 flags are raised; this report contains the most severe 1 and does not compare them "
        "with the "
        "edition before."
    )


def test_the_table_holds_what_was_raised_before_what_was_closed() -> None:
    table = present(flags_table(editions_of(holding(flag("mel")), holding(flag("df")))))

    assert table.title == "Flags raised and closed since edition 1"
    assert [(row[0], row[3]) for row in table.rows] == [("raised", "df"), ("closed", "mel")]
    assert table.note == "A closed flag says what held when it was last raised."


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

    read = present(read_report(document))

    assert read.snapshot.flags is None


METRIC = "balanced_accuracy"


def test_undefined_values_come_last_and_have_no_place() -> None:
    runs = [replace(run("a", 0.9), metrics={METRIC: UNDEFINED}), run("b", 0.1)]

    assert [each.name for each in ranked(runs, METRIC)] == ["b", "a"]
    assert ranks(runs, METRIC) == {"r_b": 1}


def test_equal_values_share_a_place() -> None:
    runs = [run("a", 0.5), run("b", 0.5), run("c", 0.4)]

    assert ranks(runs, METRIC) == {"r_a": 1, "r_b": 1, "r_c": 3}
    weighted = replace(runs[0], has_weights=True)
    assert ranks([weighted, *runs[1:]], METRIC) == {"r_b": 1, "r_c": 2}


def test_values_that_differ_by_a_rounding_error_share_a_place() -> None:
    """The mean of 0.7, 0.8 and 0.9 depends on their order in the last digit."""
    one, other = 0.8000000000000002, 0.7999999999999999
    before = [run("a", one), run("b", other), run("c", 0.4)]
    after = [run("a", other), run("b", one), run("c", 0.4)]

    assert ranks(before, METRIC) == {"r_a": 1, "r_b": 1, "r_c": 3}
    assert rank_changes(before, after, [METRIC]) == ()


def test_runs_share_a_place_in_the_table_and_have_none_with_weights_or_without_a_value() -> None:
    weighted = replace(run("survey", 0.95), has_weights=True)
    none = run("none", 0.0, metrics=dict.fromkeys(DEFAULT_METRICS, UNDEFINED))

    table = present(runs_table(report(snapshot([run("a", 0.5), weighted, none, run("b", 0.5)]))))

    assert [row[0] for row in table.rows] == ["1", "1", "", ""]


def test_equal_values_are_listed_newest_first() -> None:
    newer = run("b", 0.5, logged_at=datetime(2026, 11, 2, tzinfo=UTC))

    assert [each.name for each in ranked([run("a", 0.5), newer], METRIC)] == ["b", "a"]


def test_weighted_runs_are_listed_after_all_others() -> None:
    runs = [
        run("light", 0.8, has_weights=True),
        run("heavy", 0.9, has_weights=True),
        run("plain", 0.5),
        run("undefined", 0.5, metrics={METRIC: UNDEFINED}),
    ]

    names = [each.name for each in ranked(runs, METRIC)]

    assert names == ["plain", "undefined", "heavy", "light"]


def test_places_count_among_the_runs_of_both_reports() -> None:
    before = [run("a", 0.9), run("b", 0.8), run("gone", 0.85)]
    after = [run("a", 0.7), run("b", 0.8), run("new", 0.95)]

    changes = rank_changes(before, after, [METRIC])

    assert [(each.run_name, each.before, each.after) for each in changes] == [
        ("b", 2, 1),
        ("a", 1, 2),
    ]
