"""Schedules: when reports are created, and of what."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.records.base import InProject, ResponseBody
from offdiag.records.report import Edition, ScopeOfReport, Target, stored_scope

if TYPE_CHECKING:
    from offdiag.services.schedules.page import ScheduleEntry, SchedulesPage


class Plan(InProject):
    """When and what a schedule reports."""

    cron: str = Field(max_length=200, examples=["0 7 * * 1"])
    zone: str = Field(default="UTC", max_length=100, examples=["Europe/Berlin"])
    scope: ScopeOfReport
    delivery: list[Target] = Field(default=[], max_length=50)


class NewSchedule(Plan):
    """A schedule to create."""

    name: str


class Schedule(ResponseBody):
    """A schedule; `delivery` names its targets without their secrets."""

    project: str
    name: str
    cron: str
    zone: str
    words: str = Field(description="The plan in words.")
    problem: str | None = Field(description="Why this machine cannot interpret the plan.")
    scope: ScopeOfReport
    delivery: list[str]
    enabled: bool
    version: int = Field(description="Number of changes of its plan.")
    created_at: datetime
    updated_at: datetime


class Removed(ResponseBody):
    """What was removed."""

    project: str
    name: str


class PlannedSchedule(Schedule):
    """A schedule with its next times and the newest edition of its report."""

    next_times: list[datetime] = Field(description="None while it is paused.")
    last_fire: str | None = Field(
        default=None, description="Wall time of the last planned edition."
    )
    last: Edition | None = None


class ScheduleList(ResponseBody):
    """Schedules by project and name."""

    schedules: list[PlannedSchedule]
    has_scheduler: bool


def schedule_document(entry: ScheduleEntry) -> Schedule:
    record = entry.schedule
    return Schedule.made_of(
        record,
        words=entry.words,
        problem=entry.problem,
        scope=stored_scope(record.scope),
        delivery=entry.report.targets,
    )


def planned_schedule(entry: ScheduleEntry) -> PlannedSchedule:
    """A schedule with its next times and the newest edition of its report."""
    last = entry.report.last
    return PlannedSchedule(
        **dict(schedule_document(entry)),
        next_times=[fire.due for fire in entry.next_due_times],
        last_fire=entry.schedule.last_fire,
        last=None if last is None else Edition.made_of(last),
    )


def schedule_list(page: SchedulesPage) -> ScheduleList:
    """All schedules, and whether a scheduler is up for them."""
    return ScheduleList(
        schedules=list(map(planned_schedule, page.entries)),
        has_scheduler=page.reports.has_scheduler,
    )
