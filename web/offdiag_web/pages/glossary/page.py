"""The glossary: every metric, its definition and what it looks like."""

from __future__ import annotations

from flask import (
    Blueprint,
    abort,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response

from offdiag.metrics.catalogue import SPECS
from offdiag.services.datasets import browse_mapped_runs
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.app.paths import TWIN
from offdiag_web.pages.glossary.metric_map import (
    MAP_COLUMNS,
    map_rows,
    map_view,
    mapped_spec,
    share_at,
)
from offdiag_web.pages.glossary.view import (
    LETTER_WORDS,
    METRIC_COLUMNS,
    definition_record,
    definitions,
    glossary_view,
    metric_row,
    specs_of,
)
from offdiag_web.urls.metrics import read_metric
from offdiag_web.urls.query_string import with_query

blueprint = Blueprint("glossary", __name__)

_LONGEST_QUERY = 200


@blueprint.get("/glossary")
def page() -> Response:
    query = request.args.get("q", "").strip()[:_LONGEST_QUERY]
    if "q" in request.args and request.args["q"] != query:
        return redirect(with_query(url_for("glossary.page"), {"q": query}))
    view = glossary_view(query)
    return make_response(render_template("glossary/page.html", view=view, letters=LETTER_WORDS))


@blueprint.get(f"/glossary{TWIN}")
def twin(form: str) -> Response:
    if form == "json":
        return jsonify({"metrics": [definition_record(spec) for spec in SPECS]})
    return csv_response("metrics", METRIC_COLUMNS, map(metric_row, SPECS))


@blueprint.get("/glossary/<key>")
def metric(key: str) -> Response:
    found = definitions(key) or abort(404)
    address, notices = read_metric(key, request.args)
    if "form" in request.args and not notices:
        return redirect(address.url())
    spec = mapped_spec(specs_of(key))
    drawn = None
    if spec is not None:
        mapped = browse_mapped_runs(current_registry().database, address.dataset_id)
        drawn = map_view(spec, address, mapped, run_url=url_for("runs.runs") + "/")
    return make_response(
        render_template(
            "glossary/metric.html",
            key=key,
            definitions=found,
            map=drawn,
            notices=notices,
            address=address,
        )
    )


@blueprint.get(f"/glossary/<key>{TWIN}")
def metric_twin(key: str, form: str) -> Response:
    specs = specs_of(key) or abort(404)
    if form == "json":
        return jsonify({"definitions": [definition_record(spec) for spec in specs]})
    spec = mapped_spec(specs) or abort(404)
    address, _ = read_metric(key, request.args)
    mapped = browse_mapped_runs(current_registry().database, address.dataset_id)
    rows = map_rows(spec, float(share_at(address, mapped)))
    return csv_response(f"{key}-map", MAP_COLUMNS, rows)
