"""Flags for machines: the same flags and order as on the pages, in full precision."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from offdiag.services.flags.page import FlagDetail
from offdiag.services.flags.records import detail_dict, entry_dict
from offdiag.store.flag_inbox import FlagEntry, FlagPage
from offdiag_web.app.exports import Cell
from offdiag_web.components.recall_by_size import class_recalls
from offdiag_web.pages.flags.checks import check_records
from offdiag_web.urls.flags import ALL, FlagListAddress

FLAG_COLUMNS = (
    *("id", "severity", "rule", "rule_version", "class", "run", "run_name", "model", "dataset"),
    *("project", "state", "snoozed_until", "reason", "assignee", "in_badge", "message"),
    *("first_seen", "last_seen", "closed_at", "certainty", "may_hide"),
)


def flag_list_record(
    page: FlagPage, address: FlagListAddress, *, now: datetime
) -> dict[str, object]:
    """The page as one JSON document; `next` is the address of the page after it."""
    following = None if page.following is None else address.at(page.following).url("json")
    return {
        "state": ALL if address.state is None else address.state.value,
        "filter": dict(address.fields.named()),
        "counts": {state.value: count for state, count in page.counts.items()},
        "flags": [entry_dict(entry, now) for entry in page.entries],
        "next": following,
    }


def flag_rows(entries: Sequence[FlagEntry], *, now: datetime) -> list[tuple[Cell, ...]]:
    """The page as CSV rows, in the order of `FLAG_COLUMNS`."""
    return [_row(entry, now) for entry in entries]


def flag_record(detail: FlagDetail, *, now: datetime) -> dict[str, object]:
    """All about one flag, with what every rule measured and the recall of every class."""
    return detail_dict(detail, now) | {
        "checks": check_records(detail),
        "classes": []
        if detail.results is None
        else [
            {
                "label": each.name,
                "cases": each.cases,
                "found": each.found,
                "recall": each.recall,
                "ci_low": each.low,
                "ci_high": each.high,
            }
            for each in class_recalls(detail.results.counted)
        ],
        "ranks": {
            key: {"value": each.value.value, "rank": each.rank, "of": each.n_runs}
            for key, each in detail.ranks.items()
        },
    }


def _row(entry: FlagEntry, now: datetime) -> tuple[Cell, ...]:
    flag, content, standing = entry.flag, entry.flag.content, entry.flag.standing
    return (
        flag.id,
        standing.severity.value,
        content.rule,
        content.rule_version,
        content.class_label,
        flag.run_id,
        entry.run_name,
        entry.model,
        entry.dataset,
        entry.project,
        standing.state_at(now).value,
        _time(standing.snoozed_until),
        standing.reason,
        flag.assignee,
        "yes" if content.hides else "no",
        content.message,
        _time(flag.first_seen),
        _time(flag.last_seen),
        _time(flag.closed_at),
        content.certainty.value,
        "yes" if content.may_hide else "no",
    )


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
