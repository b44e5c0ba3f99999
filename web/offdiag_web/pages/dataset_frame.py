"""What all pages of one dataset have in common: finding out which one is meant."""

from __future__ import annotations

from urllib.parse import quote

from flask import Blueprint, redirect, request
from werkzeug.wrappers import Response

from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.errors import InvalidInput, NotFound
from offdiag.services.browse_datasets import projects_with
from offdiag_web.app.context import current_registry
from offdiag_web.app.errors import domain_answer
from offdiag_web.urls.query_string import with_query

DATASET = "/datasets/<name:name>"
"""Address of a dataset; each page adds its own name to it."""
VERSION = "int(min=1, max=2147483647)"
"""Converter for the number of a truth version."""


def find_in_any_project(blueprint: Blueprint) -> None:
    """Let the pages of a blueprint find a dataset of another project by its name alone.

    That costs a statement, and only where the default project has no such dataset. Where it
    is clear what was meant, the answer leads to the address that says so.
    """

    @blueprint.errorhandler(NotFound)
    def look_elsewhere(error: NotFound) -> Response:
        name = (request.view_args or {}).get("name")
        if error.field != "dataset" or name is None or "project" in request.args:
            return domain_answer(error)
        projects = projects_with(current_registry().database, name)
        if len(projects) == 1:
            query = {**request.args.to_dict(), "project": projects[0]}
            return redirect(with_query(quote(request.path, safe="/~:@,"), query))
        if not projects or DEFAULT_PROJECT in projects:
            return domain_answer(error)
        return domain_answer(
            InvalidInput(
                f"several projects have a dataset {name!r}.",
                field="project",
                hint=f"Add ?project= and one of {', '.join(projects)} to the address.",
            )
        )
