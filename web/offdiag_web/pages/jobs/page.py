"""The job queue, a single job, and retries of failed jobs."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, make_response, redirect, render_template, url_for
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.domain.sentences import capitalized
from offdiag.errors import NotFound
from offdiag.records.job import JOB_COLUMNS, about, job_document, job_list, job_row
from offdiag.services.health import SILENT_AFTER_S
from offdiag.services.jobs.page import JobsPage, job_page, jobs_page, retry_all, retry_job
from offdiag.store.job_list import JobEntry, JobState
from offdiag_web.app.context import current_registry, requires
from offdiag_web.app.dispatch import DATA_FORMAT
from offdiag_web.app.errors import show_on_next_page
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.components import numbers
from offdiag_web.components.controls import Chip, Tone, spell
from offdiag_web.urls.run import run_url

_TONES: dict[JobState, Tone] = {
    JobState.DEAD: "error",
    JobState.FAILED: "warning",
    JobState.RUNNING: "busy",
    JobState.QUEUED: "neutral",
}
_WORDS: dict[JobState, str] = {
    JobState.DEAD: "failed",
    JobState.FAILED: "failed, will be retried",
    JobState.RUNNING: "running",
    JobState.QUEUED: "queued",
}
_TASKS = {
    "evaluate": "Evaluate run",
    "report": "Compute report edition",
    "deliver": "Deliver report",
}


@dataclass(frozen=True, slots=True)
class JobLine:
    """One job. `about_url` leads to its run; `error` is the last line of its error."""

    entry: JobEntry
    task: str
    about: str
    about_url: str | None
    state: Chip
    when: str
    error: str | None
    can_retry: bool


def jobs_view(page: JobsPage) -> str:
    counts = page.jobs.counts
    return render_template(
        "jobs/page.html",
        states=tuple(
            Chip(f"{numbers.count(counts[state])} {_WORDS[state]}", _TONES[state])
            for state in _TONES
            if counts[state]
        ),
        lines=tuple(job_line(entry) for entry in page.jobs.entries),
        n_hidden=sum(counts.values()) - len(page.jobs.entries),
        n_dead=counts[JobState.DEAD],
        processes=(*page.workers, *page.schedulers),
        silent_after_s=SILENT_AFTER_S,
        silent=Chip("silent", "warning"),
        alive=Chip("alive", "good"),
        warning=_warning(page),
    )


def job_line(entry: JobEntry) -> JobLine:
    lines = (entry.error or "").strip().splitlines()
    run_id = entry.args.get("run")
    return JobLine(
        entry=entry,
        task=_TASKS.get(entry.task, entry.task),
        about=about(entry),
        about_url=run_url(run_id) if isinstance(run_id, str) else None,
        state=Chip(_WORDS[entry.state], _TONES[entry.state]),
        when=_when(entry),
        error=numbers.shortened(lines[-1], longest=160) if lines else None,
        can_retry=entry.state is JobState.DEAD,
    )


def _when(entry: JobEntry) -> str:
    match entry.state:
        case JobState.DEAD:
            return "failed after the last attempt; retry it"
        case JobState.RUNNING:
            left = entry.lease_left_s or 0.0
            if left < 0:
                return f"no heartbeat from its worker; released {spell(-left)} ago"
            return "in progress"
        case _ if entry.waits_s > 0:
            return f"next try in {spell(entry.waits_s)}"
        case _:
            return f"due for {spell(-entry.waits_s)}"


def _warning(page: JobsPage) -> str | None:
    """A warning if the queue needs a worker, or the schedules a scheduler, and none is running."""
    missing = [
        f"no {kind}"
        for kind, is_there in (("worker", page.has_worker), ("scheduler", page.has_scheduler))
        if not is_there
    ]
    if not missing:
        return None
    silent = f"{' and '.join(missing)} sent a heartbeat in the last {spell(SILENT_AFTER_S)}"
    effects = []
    if not page.has_worker:
        effects.append("jobs stay queued")
    if not page.has_scheduler:
        effects.append("schedules do not run")
    return f"{capitalized(silent)}: {' and '.join(effects)}."


blueprint = Blueprint("jobs", __name__)

_JOB = "/jobs/<int(max=9223372036854775807):job_id>"


@blueprint.get("/jobs")
@requires(Role.VIEWER, everywhere=True)
def page() -> Response:
    database = current_registry().database
    return make_response(jobs_view(jobs_page(database)))


@blueprint.get(f"/jobs{DATA_FORMAT}")
@requires(Role.VIEWER, everywhere=True)
def export(form: str) -> Response:
    """JSON counts all jobs and has the first ones; CSV, which has no counts, has all jobs."""
    database = current_registry().database
    if form == "json":
        return json_response(job_list(jobs_page(database), database.clock()))
    found = job_list(jobs_page(database, limit=None), database.clock())
    return csv_response("jobs", JOB_COLUMNS, map(job_row, found.jobs))


@blueprint.get(_JOB)
def job(job_id: int) -> Response:
    database = current_registry().database
    try:
        line = job_line(job_page(database, job_id))
    except NotFound as error:
        show_on_next_page(error)
        return make_response(jobs_view(jobs_page(database)), 404)
    return make_response(render_template("jobs/job.html", job=line))


@blueprint.get(f"{_JOB}.json")
def job_json(job_id: int) -> Response:
    database = current_registry().database
    return json_response(job_document(job_page(database, job_id), database.clock()))


@blueprint.post(f"{_JOB}/retry")
def retry(job_id: int) -> Response:
    again = retry_job(current_registry().database, job_id)
    return redirect(url_for("jobs.job", job_id=again), 303)


@blueprint.post("/jobs/retry")
@requires(Role.EDITOR, everywhere=True)
def retry_dead() -> Response:
    retry_all(current_registry().database)
    return redirect(url_for("jobs.page"), 303)
