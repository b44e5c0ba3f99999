"""Alerts are raised by intervals, not by estimates."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.reports.alerts import (
    BATCHES,
    DROPS,
    ODDS,
    Evidence,
    find_alerts,
    gathered,
    is_share,
    odds_of,
)
from offdiag.reports.document import read_report, report_document
from offdiag.reports.finding_tables import tables_of_findings
from offdiag.reports.report import Report
from offdiag.reports.scope import Condition, ReportScope, Side, condition_text
from offdiag.reports.snapshot import RunFigures, TruthFigures
from support.optional import present
from support.report_figures import SCOPE, UNDEFINED, report, run, snapshot

BELOW = Condition("mcc", Side.BELOW, 0.5)


@pytest.mark.parametrize(("level", "is_raised"), [(0.47, True), (0.485, False), (0.6, False)])
def test_the_whole_interval_has_to_lie_below_the_limit(level: float, is_raised: bool) -> None:
    assert bool(find_alerts([run("a", level)], [BELOW], ()).raised) is is_raised


@pytest.mark.parametrize(("level", "is_raised"), [(0.53, True), (0.515, False)])
def test_the_whole_interval_has_to_lie_above_the_limit(level: float, is_raised: bool) -> None:
    above = Condition("mcc", Side.ABOVE, 0.5)

    assert bool(find_alerts([run("a", level)], [above], ()).raised) is is_raised


def test_an_interval_that_ends_on_the_limit_does_not_exclude_it() -> None:
    on_the_limit = Condition("mcc", Side.BELOW, run("a", 0.48).metrics["mcc"].ci_high or 0)

    assert not find_alerts([run("a", 0.48)], [on_the_limit], ()).raised


def test_a_condition_may_be_about_one_class() -> None:
    condition = Condition("recall", Side.BELOW, 0.5, "mel")

    (alert,) = find_alerts([run("a", 0.3)], [condition], ()).raised

    assert alert.value.value == 0.3


def test_an_alert_of_the_edition_before_is_not_new() -> None:
    before = find_alerts([run("a", 0.3)], [BELOW], ()).raised

    again = find_alerts([run("a", 0.2), run("b", 0.2)], [BELOW], before).raised

    assert [(alert.run_name, alert.is_new) for alert in again] == [("a", False), ("b", True)]


def test_undefined_values_are_not_judged_and_said_so() -> None:
    found = find_alerts([run("a", 0.3, metrics={"mcc": UNDEFINED})], [BELOW], ())

    assert not found.raised
    assert found.unjudged[0].reason == "it is undefined (this class was never predicted)"


def test_a_class_that_is_not_there_is_not_judged_and_said_so() -> None:
    found = find_alerts([run("a", 0.3)], [Condition("recall", Side.BELOW, 0.5, "df")], ())

    assert found.unjudged[0].reason == "the report does not hold this value"


@pytest.mark.parametrize(
    ("metric", "class_label", "complaint"),
    [
        ("accuracy!", None, "there is no metric 'accuracy!' of whole runs"),
        ("n", None, "does not rank runs"),
        ("specificity", "mel", "'specificity' of a single class is not in a report"),
    ],
)
def test_a_condition_about_nothing_is_refused(
    metric: str, class_label: str | None, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        Condition(metric, Side.BELOW, 0.5, class_label)


def test_a_limit_is_a_number() -> None:
    with pytest.raises(InvalidInput, match="the limit is nan"):
        Condition("mcc", Side.BELOW, float("nan"))


@pytest.mark.parametrize("metrics", [(), ("mcc",) * 9])
def test_a_scope_names_a_few_metrics(metrics: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="metrics were named"):
        ReportScope("p", "d", metrics=metrics)


ACCURATE = Condition("overall_accuracy", Side.BELOW, 0.9)
NIGHTS, SIZE = 365, 2_000


def night(accuracy: float, *, n: int = SIZE) -> RunFigures:
    value = MetricValue(accuracy, ci_low=accuracy - 0.01, ci_high=accuracy + 0.01, ci_method="x")
    figures = run("night", 0.5, metrics={"overall_accuracy": value})
    return replace(figures, n_scored=n)


def after(*accuracies: float, condition: Condition = ACCURATE) -> tuple[Evidence, ...]:
    found: tuple[Evidence, ...] = ()
    for edition, accuracy in enumerate(accuracies, start=1):
        found = gathered(
            found, [night(accuracy)], [condition], edition=edition, truth_number=edition
        )
    return found


def test_years_without_a_change_hardly_ever_raise_an_alert() -> None:
    draws = np.random.default_rng(1).binomial(SIZE, 0.9, size=(200, NIGHTS))

    alerts = [odds_of(list(year), [SIZE] * NIGHTS, floor=0.9).max() >= ODDS for year in draws]

    assert np.mean(alerts) <= 0.05


def test_a_drop_of_two_points_is_found_within_days() -> None:
    rng = np.random.default_rng(2)
    waits = []
    for _ in range(100):
        hits = [*rng.binomial(SIZE, 0.9, 100), *rng.binomial(SIZE, 0.88, 40)]
        line = odds_of(hits, [SIZE] * 140, floor=0.9)
        waits.append(int(np.argmax(line >= ODDS)) - 99)

    assert 2 <= np.median(waits) <= 4


def test_the_capital_is_what_the_definition_says() -> None:
    hits, sizes, floor = [88, 85, 91], [100, 100, 100], 0.9

    wanted = []
    for seen in range(1, 4):
        bets = [
            np.prod([
                ((floor - drop) / floor) ** x * ((1 - floor + drop) / (1 - floor)) ** (n - x)
                for x, n in list(zip(hits, sizes, strict=True))[start:seen]
            ]) / BATCHES
            for drop in DROPS
            for start in range(seen)
        ]  # fmt: skip
        wanted.append(sum(bets) / len(DROPS) + (BATCHES - seen) / BATCHES)

    assert odds_of(hits, sizes, floor=floor) == pytest.approx(wanted, rel=1e-12)


def test_editions_with_new_samples_decide_together_and_name_the_start() -> None:
    found = after(0.91, 0.90, 0.905, 0.87, 0.865, 0.87)

    alerts = find_alerts([night(0.87)], [ACCURATE], (), found)
    again = find_alerts([night(0.87)], [ACCURATE], alerts.raised, found)

    (alert,) = alerts.raised
    assert (present(alert.evidence).start, alert.is_new) == (4, True)
    assert [each.is_new for each in again.raised] == [False]


def test_one_low_night_that_its_own_interval_would_warn_of_is_not_enough() -> None:
    found = after(0.91, 0.91, 0.88)

    alerts = find_alerts([night(0.88)], [ACCURATE], (), found)

    assert found[0].odds < ODDS
    assert not alerts.raised


def test_the_first_edition_is_judged_by_the_interval_of_its_run() -> None:
    assert find_alerts([night(0.88)], [ACCURATE], (), after(0.88)).raised
    assert not find_alerts([night(0.895)], [ACCURATE], (), after(0.895)).raised


def test_the_same_samples_are_no_new_evidence() -> None:
    once = after(0.87)

    twice = gathered(once, [night(0.85)], [ACCURATE], edition=2, truth_number=1)

    assert twice == once


def test_more_conditions_ask_for_more_evidence_and_errors_count_from_above() -> None:
    errors = Condition("error_rate", Side.ABOVE, 0.1)

    found = gathered(
        (),
        [run("a", 0.5, metrics={"error_rate": MetricValue(0.25),
                                "overall_accuracy": MetricValue(0.75)})],
        [ACCURATE, errors],
        edition=1,
        truth_number=1,
    )  # fmt: skip

    assert [each.limit for each in found] == [2 * ODDS] * 2
    assert found[0].batches == found[1].batches
    assert found[0].batches[0].hits == round(0.75 * found[0].batches[0].n_samples)


def test_a_share_of_weights_is_no_number_of_samples_to_bet_on() -> None:
    """It varies more than a share of as many samples, so its bets would win by chance."""
    assert after(0.81234567, 0.80123456) == ()


def test_a_share_of_weights_that_looks_like_a_number_of_samples_is_none_either() -> None:
    weighted = replace(night(0.75), has_weights=True)

    assert gathered((), [weighted], [ACCURATE], edition=1, truth_number=1) == ()
    assert len(after(0.75)) == 1


def test_a_stored_report_says_which_runs_have_weights_and_keeps_the_digest_of_others() -> None:
    plain = report(snapshot([run("a", 0.8)]))
    weighted = report(snapshot([run("a", 0.8, has_weights=True)]))

    documents = [report_document(each) for each in (plain, weighted)]

    assert "has_weights" not in documents[0]["snapshot"]["runs"][0]
    assert documents[1]["snapshot"]["runs"][0]["has_weights"] is True
    assert [read_report(each) for each in documents] == [plain, weighted]


def test_editions_hand_their_evidence_on_through_the_stored_document() -> None:
    scope = replace(SCOPE, alerts=(ACCURATE,))
    previous: Report | None = None
    for edition, accuracy in enumerate((0.9, 0.87, 0.86), start=1):
        night_run = run("night", 0.8)
        metrics = {**night_run.metrics, **night(accuracy).metrics}
        shown = [replace(night_run, metrics=metrics, n_scored=SIZE)]
        truth = TruthFigures(edition, edition, "0123456789abcdef", SIZE, SIZE)
        made = report(snapshot(shown, truth=truth), previous, scope=scope)
        previous = read_report(json.loads(json.dumps(report_document(made))))
        assert previous == made

    (evidence,) = present(previous).findings.alerts.evidence
    assert [batch.hits for batch in evidence.batches] == [1_800, 1_740, 1_720]
    (table,) = [each for each in tables_of_findings(present(previous)) if "Evidence" in each.title]
    assert table.rows[0][2:4] == ("3", "6,000")


def test_a_model_that_misses_an_edition_keeps_its_evidence_and_its_alert_is_not_new() -> None:
    scope = replace(SCOPE, alerts=(ACCURATE,))

    def edition(previous: Report | None, **models: float) -> Report:
        number = 1 if previous is None else previous.edition.number + 1
        runs = [
            replace(night(accuracy), id=f"{model}-{number}", model=model)
            for model, accuracy in models.items()
        ]
        metrics = run("night", 0.8).metrics
        shown = [replace(each, metrics={**metrics, **each.metrics}) for each in runs]
        truth = TruthFigures(number, number, "0123456789abcdef", SIZE, SIZE)
        return report(snapshot(shown, truth=truth), previous, scope=scope)

    first = edition(None, old=0.87, new=0.91)
    second = edition(first, old=0.85, new=0.91)
    without = edition(second, new=0.91)
    again = edition(without, old=0.86, new=0.91)

    batches = {each.model: each.batches for each in again.findings.alerts.evidence}
    assert [batch.edition for batch in batches["old"]] == [1, 2, 4]
    assert [each.is_new for each in second.findings.alerts.raised] == [True]
    assert without.findings.alerts.raised == ()
    assert [each.is_new for each in again.findings.alerts.raised] == [False]
    tables = [
        [row[1] for row in table.rows]
        for each in (without, again)
        for table in tables_of_findings(each)
        if "Evidence" in table.title
    ]
    assert tables == [["new"], ["new", "old"]]


def test_evidence_of_a_model_that_was_missing_for_a_year_is_dropped() -> None:
    found = after(0.87)
    other = [replace(night(0.9), model="other")]

    kept, dropped = (
        gathered(found, other, [ACCURATE], edition=edition, truth_number=edition)
        for edition in (BATCHES, BATCHES + 1)
    )

    assert [each.model for each in kept] == ["other", None]
    assert [each.model for each in dropped] == ["other"]


def test_evidence_beyond_a_million_is_not_written_out_to_its_last_digit() -> None:
    scope = replace(SCOPE, alerts=(ACCURATE,))
    previous: Report | None = None
    for edition in (1, 2, 3):
        night_run = run("night", 0.8)
        metrics = {**night_run.metrics, **night(0.7).metrics}
        truth = TruthFigures(edition, edition, "0123456789abcdef", SIZE, SIZE)
        shown = [replace(night_run, metrics=metrics, n_scored=SIZE)]
        previous = report(snapshot(shown, truth=truth), previous, scope=scope)

    alerts, evidence = tables_of_findings(present(previous))[:2]
    assert alerts.rows[0][2] == "evidence over 1,000,000 : 1, most likely since edition 1"
    assert evidence.rows[0][4:] == ("over 1,000,000 : 1", "20 : 1")


def test_after_a_year_it_begins_again() -> None:
    found = after(*[0.9] * BATCHES, 0.9)

    assert [batch.edition for batch in found[0].batches] == [BATCHES + 1]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (ACCURATE, True),
        (Condition("recall", Side.BELOW, 0.5, "mel"), True),
        (Condition("overall_accuracy", Side.ABOVE, 0.9), False),
        (Condition("overall_accuracy", Side.BELOW, 1.0), False),
        (Condition("overall_accuracy", Side.BELOW, 0.05), False),
        (Condition("mcc", Side.BELOW, 0.5), False),
        (Condition("precision", Side.BELOW, 0.5, "mel"), False),
    ],
)
def test_shares_of_samples_are_watched_over_editions(
    condition: Condition, *, expected: bool
) -> None:
    assert is_share(condition) is expected


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (0.5, "below 0.500"),
        (0.99999, "below 0.99999"),
        (0.8755, "below 0.8755"),
        (1e-5, "below 1e−05"),
        (-0.25, "below −0.250"),
        (-0.00025, "below −0.00025"),
    ],
)
def test_a_limit_is_told_as_it_was_set(limit: float, text: str) -> None:
    said = condition_text(Condition("mcc", Side.BELOW, limit))

    assert said == f"Matthews correlation coefficient (MCC) {text}"
