"""Alerts are raised by intervals, not by estimates."""

from __future__ import annotations

import pytest

from offdiag.errors import InvalidInput
from offdiag.reports.alerts import find_alerts
from offdiag.reports.scope import Condition, ReportScope, Side
from support.report_figures import UNDEFINED, run

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


def test_an_alert_of_the_issue_before_is_not_new() -> None:
    before = find_alerts([run("a", 0.3)], [BELOW], ()).raised

    again = find_alerts([run("a", 0.2), run("b", 0.2)], [BELOW], before).raised

    assert [(alert.run_name, alert.is_new) for alert in again] == [("a", False), ("b", True)]


def test_undefined_values_are_not_judged_and_said_so() -> None:
    found = find_alerts([run("a", 0.3, metrics={"mcc": UNDEFINED})], [BELOW], ())

    assert not found.raised
    assert found.unjudged[0].reason == "it is undefined (no predicted positives)"


def test_a_class_that_is_not_there_is_not_judged_and_said_so() -> None:
    found = find_alerts([run("a", 0.3)], [Condition("recall", Side.BELOW, 0.5, "df")], ())

    assert found.unjudged[0].reason == "the report does not hold this value"


@pytest.mark.parametrize(
    ("metric", "class_label", "complaint"),
    [
        ("accuracy!", None, "there is no metric 'accuracy!' of whole runs"),
        ("n", None, "neither good nor bad"),
        ("specificity", "mel", "'specificity' of a single class is not in a report"),
    ],
)
def test_a_condition_about_nothing_is_refused(
    metric: str, class_label: str | None, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        Condition(metric, Side.BELOW, 0.5, class_label)


def test_a_limit_is_a_number() -> None:
    with pytest.raises(InvalidInput, match="nan is no limit"):
        Condition("mcc", Side.BELOW, float("nan"))


@pytest.mark.parametrize("metrics", [(), ("mcc",) * 9])
def test_a_scope_names_a_few_metrics(metrics: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="metrics were named"):
        ReportScope("p", "d", metrics=metrics)
