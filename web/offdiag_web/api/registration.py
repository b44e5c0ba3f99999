"""Adding the interface to an application."""

from __future__ import annotations

from flask import Flask, request

from offdiag.errors import Malformed
from offdiag_web.api import (
    changes,
    comparisons,
    cost_matrices,
    datasets,
    decisions,
    description,
    examples,
    flags,
    ingest,
    jobs,
    metrics,
    reports,
    results,
    runs,
    schedules,
    tokens,
    truths,
    users,
    what_if,
)
from offdiag_web.app.paths import PREFIX, NumberConverter

BLUEPRINTS = (
    description.blueprint,
    ingest.blueprint,
    metrics.blueprint,
    runs.blueprint,
    results.blueprint,
    examples.blueprint,
    comparisons.blueprint,
    datasets.blueprint,
    truths.blueprint,
    cost_matrices.blueprint,
    flags.blueprint,
    schedules.blueprint,
    reports.blueprint,
    jobs.blueprint,
    what_if.blueprint,
    decisions.blueprint,
    users.blueprint,
    tokens.blueprint,
    changes.blueprint,
)


def register(app: Flask) -> None:
    """Add every route, and the checks they share."""
    app.url_map.converters["number"] = NumberConverter

    @app.before_request
    def refuse_nul() -> None:
        if request.path.startswith(f"{PREFIX}/") and (
            "\0" in request.path
            or any("\0" in name + value for name, value in request.args.items(multi=True))
        ):
            raise Malformed(
                "the address has a NUL character.",
                field="path",
                hint="Databases cannot store it; remove it.",
            )

    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
