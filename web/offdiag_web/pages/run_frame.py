"""What all pages of one run have in common: the run, its header and tabs."""

from __future__ import annotations

from typing import Any

from flask import make_response, render_template, url_for
from werkzeug.wrappers import Response

from offdiag.domain.runs import RunState
from offdiag.errors import EvaluationFailed, EvaluationPending
from offdiag.services.browse import browse_run
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.app.context import current_registry
from offdiag_web.presenters.run_header import run_header

RUN = "/runs/<run:run_id>"
"""Address of a run; each page adds its own name to it."""


def stored_run(run_id: str) -> RunDetail:
    """The run of this request. Raises `NotFound`."""
    return browse_run(current_registry().database, run_id)


def results_of(detail: RunDetail) -> RunResults:
    """The results that an export needs.

    Raises `EvaluationPending` while there are none and `EvaluationFailed` if there will not be.
    """
    if detail.results is not None:
        return detail.results
    if detail.run.state is RunState.FAILED:
        raise EvaluationFailed(
            f"the evaluation of run {detail.run.id} failed, so it has no metrics.",
            field="run",
            hint="Its page shows the last error.",
        )
    raise EvaluationPending(
        f"run {detail.run.id} has no metrics yet.",
        field="run",
        hint="Ask again in a few seconds.",
    )


def run_page(template: str, detail: RunDetail, current: str, **values: Any) -> Response:
    """A page of the run, with the tab `current` open."""
    header = run_header(
        detail,
        current=current,
        now=current_registry().database.clock(),
        tab_url=lambda name, run_id: url_for(f"run_{name}.page", run_id=run_id),
    )
    return make_response(render_template(template, header=header, **values))
