"""The first sentence says what changed beyond its interval, or that nothing did."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime

from offdiag.reports.files import csv_text, html_page
from offdiag.reports.finding_tables import tables_of_findings
from offdiag.reports.headline import further_sentences, headline
from offdiag.reports.report import Report
from offdiag.reports.scope import DEFAULT_METRICS, Condition, Side
from offdiag.reports.snapshot import RunName, TruthFigures
from offdiag.reports.tables import (
    runs_table,
    slices_table,
    worst_classes_table,
    worst_of_each_table,
)
from support.report_figures import (
    SCOPE,
    UNDEFINED,
    class_figures,
    report,
    revision,
    run,
    snapshot,
    value,
)

LATER = datetime(2026, 11, 15, tzinfo=UTC)
BEFORE = report(snapshot([run("focal", 0.80), run("plain", 0.70)]))


def test_a_first_edition_has_nothing_to_compare_with() -> None:
    assert headline(BEFORE) == (
        "This is the first edition, so there is nothing to compare it with yet."
    )


def test_a_move_within_the_interval_is_no_change() -> None:
    moved = report(snapshot([run("focal", 0.815), run("plain", 0.70)]), BEFORE)

    assert headline(moved) == "No change exceeds its interval."


def test_one_value_beyond_its_interval_is_named_with_size_and_interval() -> None:
    worse = replace(
        BEFORE.snapshot.runs[0],
        input_digest="other",
        classes=(class_figures("mel", 0.74), class_figures("nv", 0.80)),
    )
    worse = replace(
        worse,
        classes=(
            replace(
                worse.classes[0], values={**worse.classes[0].values, "precision": value(0.80)}
            ),
            worse.classes[1],
        ),
    )

    sentence = headline(report(snapshot([worse, BEFORE.snapshot.runs[1]]), BEFORE))

    assert sentence == (
        "One thing changed beyond its interval: "
        "focal lost 6.0 pp recall of mel (0.740, outside 0.750 – 0.850)."
    )


def test_a_value_just_outside_of_its_interval_is_told_so_exactly_that_this_can_be_seen() -> None:
    worse = replace(
        BEFORE.snapshot.runs[0],
        input_digest="other",
        classes=(class_figures("mel", 0.74996), class_figures("nv", 0.80)),
    )

    sentence = headline(report(snapshot([worse, BEFORE.snapshot.runs[1]]), BEFORE))

    assert "recall of mel (0.74996, outside 0.75000 – 0.85000)" in sentence


def test_a_newer_run_of_the_same_name_is_compared_by_the_interval_of_the_difference() -> None:
    newer = run("focal", 0.90, id="r_newer", logged_at=LATER, classes=())

    sentence = headline(report(snapshot([*BEFORE.snapshot.runs, newer]), BEFORE))

    assert sentence == (
        "4 values of 1 run changed beyond their intervals: "
        "focal gained 10.0 pp balanced accuracy (+6.4 to +13.6 pp)."
    )


def test_each_changed_run_is_named_once() -> None:
    after = snapshot([run("focal", 0.60, classes=()), run("plain", 0.50, classes=())])

    sentence = headline(report(after, BEFORE))

    assert sentence.startswith("8 values of 2 runs changed beyond their intervals: ")
    assert sentence.count("focal") == sentence.count("plain") == 1


def test_a_value_that_became_undefined_is_a_change() -> None:
    without = replace(
        BEFORE.snapshot.runs[0],
        input_digest="other",
        metrics={**BEFORE.snapshot.runs[0].metrics, "mcc": UNDEFINED},
    )

    sentence = headline(report(snapshot([without, BEFORE.snapshot.runs[1]]), BEFORE))

    assert sentence == (
        "Re-evaluation changed the ranking by Matthews correlation coefficient (MCC) (plain from "
        "2 to 1); one thing changed beyond its interval: focal: Matthews correlation coefficient "
        "(MCC) went from 0.800 to undefined (this class was never predicted)."
    )


def test_revised_labels_that_change_the_ranking_come_first() -> None:
    after = snapshot(
        [run("focal", 0.79, truth_number=2), run("plain", 0.715, truth_number=2)],
        revisions=(revision(2, 10),),
    )
    close = report(snapshot([run("focal", 0.710), run("plain", 0.711)]))

    sentence = headline(report(after, close))

    assert sentence.startswith(
        "Label version 2 of derm-7 (10 labels corrected) changed the ranking by balanced accuracy "
        "(focal from 2 to 1 and plain from 1 to 2) and 3 other rankings; "
    )


def test_runs_of_one_name_are_told_apart_by_their_ids() -> None:
    before = [run("nightly", level, id=f"r_{level}") for level in (0.8, 0.7)]
    now = [
        run("nightly", level, id=each.id, input_digest="revised")
        for each, level in zip(before, (0.7, 0.9), strict=True)
    ]

    found = report(snapshot(now), report(snapshot(before)))

    assert "(nightly r_0.7 from 2 to 1 and nightly r_0.8 from 1 to 2)" in headline(found)
    assert "nightly r_0.7 gained 20.0 pp" in headline(found)
    changes, places = tables_of_findings(found)
    assert {row[0] for row in changes.rows} == {"nightly r_0.7", "nightly r_0.8"}
    assert [row[1] for row in places.rows[:2]] == ["nightly r_0.7", "nightly r_0.8"]


def test_revised_labels_that_change_no_ranking_are_told_too() -> None:
    after = snapshot(
        [run("focal", 0.81, truth_number=3), run("plain", 0.70, truth_number=3)],
        revisions=(revision(2, 4), revision(3, 1)),
    )

    assert headline(report(after, BEFORE)) == (
        "Label versions up to 3 of derm-7 (5 labels corrected in 2 steps) left every ranking as "
        "it was; no change exceeds its interval."
    )


def test_hostile_names_stay_visible_and_short() -> None:
    name = "a\u202eb" + "x" * 200
    before = report(snapshot([run(name, 0.9, classes=())]))
    after = report(snapshot([run(name, 0.5, classes=())]), before)

    assert "a\\u202eb" in headline(after)
    assert "\u202e" not in headline(after)
    assert len(headline(after)) < 250


def test_what_else_matters_follows_most_urgent_first() -> None:
    scope = replace(SCOPE, alerts=(Condition("recall", Side.BELOW, 0.9, "mel"),))
    shown = snapshot(
        [run("focal", 0.80)],
        waiting=(RunName("r_w", "w"),),
        failed=(RunName("r_f", "f"),),
        n_matching=1_234,
        n_elsewhere=2,
    )

    sentences = further_sentences(report(shown, BEFORE, scope=scope, facts={"covers_missed": 3}))

    assert sentences == (
        "1 alert, 1 of them new: Recall of mel below 0.900 in focal.",
        "Of 1 run, focal has the highest balanced accuracy: 0.800 (0.780 – 0.820).",
        "1 run is not evaluated yet and not in this report.",
        "1 run could not be evaluated.",
        "2 runs have another ground truth and cannot be compared.",
        "Only the newest of 1,234 runs are in this report.",
        "This edition also stands for 3 earlier times at which no scheduler was running.",
    )


def test_the_example_of_new_alerts_is_a_new_one() -> None:
    scope = replace(SCOPE, alerts=(Condition("mcc", Side.BELOW, 0.9),))
    known = run("known", 0.8)
    before = report(snapshot([known]), scope=scope)

    sentences = further_sentences(report(snapshot([known, run("more", 0.7)]), before, scope=scope))

    assert sentences[0].startswith("2 alerts, 1 of them new: ")
    assert sentences[0].endswith(" in more.")


def test_runs_with_the_same_highest_value_are_all_named() -> None:
    shown = snapshot([run("focal", 0.80), run("plain", 0.70), run("again", 0.80)])

    assert further_sentences(report(shown))[0].startswith(
        "Of 3 runs, focal and again have the highest balanced accuracy: 0.800"
    )
    rounded = snapshot([run("focal", 0.8000000000000002), run("again", 0.7999999999999999)])
    assert further_sentences(report(rounded))[0].startswith("Of 2 runs, focal and again have")


def test_of_two_runs_of_a_name_the_highest_is_told_by_its_id() -> None:
    newer = run("focal", 0.70, id="r_newer", logged_at=LATER)

    assert (
        "Of 2 runs, focal r_focal has the highest balanced accuracy: 0.800 (0.780 – 0.820)."
        in (further_sentences(report(snapshot([run("focal", 0.80), newer]))))
    )


def test_a_baseline_that_is_not_in_the_report_is_missed() -> None:
    missed = "Baseline r_gone is not among these runs, so differences from it are missing."
    runs = [run("focal", 0.80), run("plain", 0.70)]

    for baseline, is_missed in (("r_gone", True), ("r_plain", False), (None, False)):
        made = report(snapshot(runs), scope=replace(SCOPE, baseline=baseline))

        assert (missed in further_sentences(made)) is is_missed


def test_an_empty_scope_is_said_to_be_empty() -> None:
    assert further_sentences(report(snapshot([]))) == ("There is no evaluated run in scope.",)


def test_new_runs_are_counted() -> None:
    after = snapshot([*BEFORE.snapshot.runs, run("a", 0.5), run("b", 0.4)])

    assert "2 new runs since edition 1." in further_sentences(report(after, BEFORE))


def test_runs_that_are_gone_are_named() -> None:
    one = report(snapshot([run("plain", 0.70)]), BEFORE)
    both = report(snapshot([run("a", 0.5)]), BEFORE)

    assert "1 run of edition 1 is no longer in scope: focal." in further_sentences(one)
    gone = "2 runs of edition 1 are no longer in scope: focal and plain."
    assert gone in further_sentences(both)


def test_new_versions_of_metrics_are_named() -> None:
    """They change values of the same predictions, which nobody should take for a worse model."""
    runs = BEFORE.snapshot.runs
    first = report(snapshot(runs, declared={"mcc": 1}))
    can = "which can change the values of the same predictions."

    def told(previous: Report, **versions: object) -> str:
        return " ".join(further_sentences(report(snapshot(runs, **versions), previous)))

    mcc = "Matthews correlation coefficient (MCC)"
    assert f"Since edition 1 there is a new version of {mcc}, {can}" in told(
        first, declared={"mcc": 2}
    )
    assert f"Since edition 1 there is a new version of offdiag's metrics, {can}" in told(
        first, declared={"mcc": 1}, suite_version=2
    )
    assert "new version" not in told(first, declared={"mcc": 1})
    assert "new version" not in told(BEFORE, declared={"mcc": 1}), "its version is not known"


def test_other_samples_are_never_compared() -> None:
    other = TruthFigures(7, 6, "another digest", 900, 900)

    shown = report(snapshot([run("focal", 0.1)], truth=other), BEFORE)

    assert headline(shown) == (
        "The runs are scored on other samples than in edition 1, so the two cannot be compared."
    )
    assert not shown.findings.changes.beyond
    assert len(shown.history) == 1


def test_another_dataset_is_never_compared() -> None:
    elsewhere = replace(SCOPE, dataset="derm-9")

    shown = report(snapshot([run("focal", 0.1)]), BEFORE, scope=elsewhere)

    assert "cannot be compared" in headline(shown)


def test_names_that_hold_punctuation_are_quoted() -> None:
    before = report(snapshot([run("forest, deep", 0.710), run("plain", 0.711)]))
    after = report(snapshot([run("forest, deep", 0.715), run("plain", 0.711)]), before)

    assert "(“forest, deep” from 2 to 1 and plain from 1 to 2)" in headline(after)


def test_a_weighted_run_is_not_the_highest_of_others() -> None:
    weighted = run("survey", 0.9, has_weights=True)

    mixed = further_sentences(report(snapshot([run("focal", 0.8), weighted])))
    alone = further_sentences(report(snapshot([weighted])))

    assert (
        "Of 1 run without sample weights, focal has the highest balanced accuracy: "
        "0.800 (0.780 – 0.820)." in mixed
    )
    assert "Of 1 run, survey has the highest balanced accuracy: 0.900 (0.880 – 0.920)." in alone


def test_a_run_without_a_value_is_not_the_highest() -> None:
    unlabelled = run("focal", 0.8, metrics=dict.fromkeys(DEFAULT_METRICS, UNDEFINED))
    made = report(snapshot([unlabelled]))

    said = " ".join([headline(made), *further_sentences(made)])

    assert "Of 1 run, none has a defined balanced accuracy: it is undefined" in said
    assert "highest" not in said


def test_sums_of_weights_are_no_numbers_of_examples() -> None:
    plain, weighted = (
        report(snapshot([run("focal", 0.8, has_weights=weights)])) for weights in (False, True)
    )

    for tables, size in ((worst_classes_table, 1), (worst_of_each_table, 2)):
        sizes = [tables(each).rows[0][size] for each in (plain, weighted)]  # type: ignore[union-attr]
        assert sizes[1] == f"weight {sizes[0]}"


def test_tables_tell_weighted_runs_from_others() -> None:
    weighted = run("survey", 0.9, has_weights=True)
    runs = [run("focal", 0.8), weighted]
    made = report(
        snapshot(runs, slices=tuple(replace(each, slice="site=x") for each in runs)),
        scope=replace(SCOPE, baseline="r_focal"),
    )

    table, slices = runs_table(made), slices_table(made)

    assert table is not None
    assert [row[:2] for row in table.rows] == [("1", "focal"), ("", "survey (weighted)")]
    assert [row[-1] for row in table.rows] == ["baseline", "not comparable"]
    assert "Runs with sample weights have no place" in table.note
    assert slices is not None
    assert [row[1] for row in slices.rows] == ["focal", "survey (weighted)"]
    assert "survey (weighted)" in html_page(made).split("</svg>")[0]
    lines = csv.DictReader(io.StringIO(csv_text(made)))
    assert {(line["name"], line["is_weighted"]) for line in lines} == {
        ("focal", "no"),
        ("survey", "yes"),
    }


def test_a_line_of_best_runs_is_of_weighted_values_or_of_none() -> None:
    weighted = report(snapshot([run("survey", 0.9, has_weights=True)]))
    again = report(weighted.snapshot, weighted)
    mixed = report(snapshot([run("survey", 0.9, has_weights=True), run("focal", 0.8)]), again)

    assert [point.number for point in again.history] == [1, 2]
    assert [(point.number, point.run_name) for point in mixed.history] == [(3, "focal")]


def test_worst_labels_of_multi_label_runs_are_called_so() -> None:
    made = report(replace(snapshot([run("focal", 0.8)]), task="multilabel"))

    for table in (worst_classes_table(made), worst_of_each_table(made)):
        assert table is not None
        assert "class" not in " ".join((table.title, *table.columns)).lower()
