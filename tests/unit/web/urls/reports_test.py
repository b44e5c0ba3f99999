"""Addresses of reports name any report, whatever it is called."""

from __future__ import annotations

from offdiag.domain.texts import name_from_path
from offdiag_web.urls.reports import ReportAddress, reports_url


def test_an_address_says_project_and_place_only_where_they_are_special() -> None:
    plain, other = ReportAddress("default", "weekly"), ReportAddress("b side", "weekly")

    assert plain.url() == "/reports/weekly"
    assert plain.url("json", start=50) == "/reports/weekly.json"
    assert plain.url(start=50) == "/reports/weekly?from=51"
    assert other.edition_url(3) == "/reports/weekly/3?project=b%20side"
    assert other.retry_url(3) == "/reports/weekly/3/retry?project=b%20side"
    assert plain.retry_url(3, 7) == "/reports/weekly/3/deliveries/7/retry"
    assert other.copy_url() == "/reports/new?like=weekly&project=b%20side"
    assert reports_url() == "/reports"


def test_a_report_called_new_has_another_address_than_the_form() -> None:
    assert ReportAddress("default", "new").url() == "/reports/~6Eew"
    assert name_from_path("~6Eew") == "new"
