"""The work queue, one job of it, and another try for what was given up."""

from __future__ import annotations

from flask import Blueprint, make_response, redirect, render_template, url_for
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.records.job import JOB_COLUMNS, job_document, job_list, job_row
from offdiag.services.jobs.page import job_page, jobs_page, retry_all, retry_job
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.paths import TWIN
from offdiag_web.app.permissions import requires
from offdiag_web.pages.jobs.view import job_line, jobs_view

blueprint = Blueprint("jobs", __name__)

_JOB = "/jobs/<int(max=9223372036854775807):job_id>"


@blueprint.get("/jobs")
@requires(Role.VIEWER, everywhere=True)
def page() -> Response:
    database = current_registry().database
    view = jobs_view(jobs_page(database), now=database.clock(), run_url=_run_url)
    return make_response(render_template("jobs/page.html", view=view))


@blueprint.get(f"/jobs{TWIN}")
@requires(Role.VIEWER, everywhere=True)
def twin(form: str) -> Response:
    database = current_registry().database
    found = job_list(jobs_page(database), database.clock())
    if form == "json":
        return json_response(found)
    return csv_response("jobs", JOB_COLUMNS, map(job_row, found.jobs))


@blueprint.get(_JOB)
def job(job_id: int) -> Response:
    database = current_registry().database
    line = job_line(job_page(database, job_id), now=database.clock(), run_url=_run_url)
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


def _run_url(run_id: str) -> str:
    return url_for("run_matrix.page", run_id=run_id)
