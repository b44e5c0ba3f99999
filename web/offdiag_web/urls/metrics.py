"""Addresses of the glossary: a metric, seen at an imbalance, with the runs of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from offdiag_web.urls.query_string import whole_number, with_query

BALANCED = Decimal("0.5")
_LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class MetricAddress:
    """A metric. `share` is that of the positive class; None is that of the dataset, or a half."""

    key: str
    share: Decimal | None = None
    dataset_id: int | None = None

    def url(self, form: str = "") -> str:
        """The page of the metric, or its export where `form` is "json" or "csv"."""
        return with_query(
            f"/glossary/{self.key}{f'.{form}' if form else ''}",
            {
                "share": None if self.share is None else format(self.share, "f"),
                "dataset": None if self.dataset_id is None else str(self.dataset_id),
            },
        )


def read_metric(key: str, values: Mapping[str, str]) -> tuple[MetricAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value."""
    notices: list[str] = []
    return (
        MetricAddress(
            key,
            _share(values.get("share", ""), notices),
            _dataset(values.get("dataset", ""), notices),
        ),
        notices,
    )


def _share(text: str, notices: list[str]) -> Decimal | None:
    text = text.strip()
    if not text:
        return None
    is_percent = text.endswith("%")
    try:
        share = Decimal(text.removesuffix("%").strip()) / (100 if is_percent else 1)
    except InvalidOperation:
        share = Decimal("NaN")
    if share.is_finite() and Decimal("0.000001") <= share <= Decimal("0.999999"):
        # Trailing zeros add nothing, and six digits are more than any dataset distinguishes.
        return Decimal(format(round(share, 6).normalize(), "f"))
    notices.append(f"“{text[:20]}” is not a share between 0 and 1, nor a percentage.")
    return None


def _dataset(text: str, notices: list[str]) -> int | None:
    if not text:
        return None
    number = whole_number(text, most=_LARGEST_ID)
    if number is None:
        notices.append(f"“{text[:20]}” is not the number of a dataset.")
    return number
