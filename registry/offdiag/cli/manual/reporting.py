"""Entries of commands about schedules and reports."""

from __future__ import annotations

from offdiag.cli.manual.entry import Entry

_SCHEDULE = {"name": "Name of the schedule."}
_REPORT = {"name": "Name of the report.", "number": "Number of the issue; the newest without."}
_NOT_SENT = "the figures could not be computed or a delivery was refused"

ENTRIES = {
    "schedule add": Entry(
        examples=('schedule add weekly --cron "0 7 * * mon" --dataset holdout --folder weekly',),
        see=("schedule list", "report now"),
        arguments=_SCHEDULE,
    ),
    "schedule list": Entry(
        examples=("schedule list", "schedule list --json"), see=("schedule show",)
    ),
    "schedule show": Entry(
        examples=("schedule show weekly",), see=("schedule list",), arguments=_SCHEDULE
    ),
    "schedule pause": Entry(
        examples=("schedule pause weekly",), see=("schedule resume",), arguments=_SCHEDULE
    ),
    "schedule resume": Entry(
        examples=("schedule resume weekly",), see=("schedule pause",), arguments=_SCHEDULE
    ),
    "schedule remove": Entry(
        examples=("schedule remove weekly",), see=("schedule pause",), arguments=_SCHEDULE
    ),
    "schedule run": Entry(
        examples=("schedule run weekly --timeout 120",),
        see=("report show", "report now"),
        arguments=_SCHEDULE,
        no=_NOT_SENT,
    ),
    "report now": Entry(
        examples=("report now friday --dataset holdout --folder friday",),
        see=("report show", "schedule add"),
        arguments=_REPORT,
        no=_NOT_SENT,
    ),
    "report list": Entry(examples=("report list", "report list --json"), see=("report show",)),
    "report show": Entry(
        examples=("report show weekly", "report show weekly 3 --json"),
        see=("report list", "report export"),
        arguments=_REPORT,
    ),
    "report export": Entry(
        examples=(
            "report export weekly --format markdown",
            "report export weekly 3 --output 3.html",
        ),
        see=("report show",),
        arguments=_REPORT,
        no_json="--format json exports the issue as JSON",
    ),
}
