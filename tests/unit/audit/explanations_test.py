"""Digits that were cut off: of the whole table first, then of the fewest numbers."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag import audit_reported
from offdiag.audit.findings import AuditReport, AuditVerdict
from offdiag.audit.printed import Rounding, printed

CONSISTENT, IMPOSSIBLE = AuditVerdict.CONSISTENT, AuditVerdict.IMPOSSIBLE
SIZES = {"well": 94, "ill": 56}
"""[[89, 5], [6, 50]]: accuracy .92666…, sensitivity .892857…, specificity .946808…"""


def audited(reported: dict[str, Any], **facts: Any) -> AuditReport:
    told = {"class_counts": SIZES, "positive_label": "ill", **facts}
    return audit_reported(reported=reported, **told)


def cut(report: AuditReport) -> list[str]:
    return [f.claim.name for f in report.findings if f.rounding is Rounding.CUT_OFF]


@pytest.mark.parametrize(
    "reported",
    [
        {"accuracy": "0.9266", "sensitivity": "0.8928"},
        {"accuracy": "0.926", "sensitivity": "0.892", "specificity": "0.946", "mcc": "0.842"},
        {"accuracy": "92.66 %", "sensitivity": "89.28 %", "specificity": "94.68 %"},
        {"accuracy": "0.9", "sensitivity": "0.8", "specificity": "0.9", "precision": "0.90909"},
    ],
)
def test_a_table_that_was_cut_off_throughout_is_consistent(reported: dict[str, str]) -> None:
    report = audited(reported)

    assert report.verdict is CONSISTENT
    assert cut(report) == list(reported)
    assert report.headline == (
        "Nothing contradicts the numbers if they were cut off instead of rounded."
    )
    assert report.tables is not None
    assert ((89, 5), (6, 50)) in list(report.tables)


def test_a_table_that_fits_rounded_is_taken_as_rounded() -> None:
    report = audited({"accuracy": "0.9267", "sensitivity": "0.8929"})

    assert (report.verdict, cut(report)) == (CONSISTENT, [])
    assert report.headline == "Nothing contradicts the numbers."


@pytest.mark.parametrize(
    ("reported", "which"),
    [
        ({"accuracy": "0.9267", "sensitivity": "0.8928"}, ["sensitivity"]),
        ({"accuracy": "0.9266", "sensitivity": "0.8929", "mcc": "0.8428"}, ["accuracy"]),
        (
            {"accuracy": "0.9266", "sensitivity": "0.8928", "precision": "0.9091"},
            ["accuracy", "sensitivity"],
        ),
    ],
)
def test_among_rounded_numbers_the_fewest_were_cut_off(
    reported: dict[str, str], which: list[str]
) -> None:
    report = audited(reported)

    assert (report.verdict, cut(report)) == (CONSISTENT, which)
    assert all(name in report.headline for name in which)
    assert "cut off instead of rounded" in report.headline


def test_more_cut_off_numbers_than_are_searched_for_accuse_nobody() -> None:
    names = ("accuracy", "sensitivity", "specificity", "macro_recall", "informedness", "f1")
    values = ("0.9266", "0.8928", "0.9468", "0.9198", "0.8396", "0.9009")

    report = audited({**dict(zip(names, values, strict=True)), "precision": "0.90909091"})

    assert report.verdict is CONSISTENT


def test_a_wrong_number_in_a_table_that_was_cut_off_is_the_only_one_blamed() -> None:
    report = audited(
        {"accuracy": "0.9266", "sensitivity": "0.8928", "specificity": "0.9468", "mcc": "0.5424"}
    )

    verdicts = {finding.claim.name: finding.verdict for finding in report.findings}
    assert verdicts.pop("mcc") is IMPOSSIBLE
    assert set(verdicts.values()) == {CONSISTENT}
    assert report.headline == "Mcc 0.5424 cannot be true beside the other numbers."


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("0.59", 0.59, 0.60), ("-0.59", -0.60, -0.59), ("0.00", -0.01, 0.01), ("59 %", 0.59, 0.60)],
)
def test_cutting_off_moves_towards_zero(text: str, low: float, high: float) -> None:
    interval = printed(text, field="x").taken(Rounding.CUT_OFF).interval

    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-7)
