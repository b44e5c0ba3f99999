"""Content of the samples of a dataset: where it is found, how much is stored, and the images."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.domain.number_text import byte_size
from offdiag.domain.sample_content import ContentPlaces
from offdiag.errors import InvalidInput, Stale
from offdiag.services.samples.content import browse_content, picture, set_places
from offdiag.store.samples import ContentTotals
from offdiag_web.app.context import current_registry, requires
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.errors import REFUSED, Failure, failure_of, status_of
from offdiag_web.components import numbers
from offdiag_web.components.datasets import DATASET, dataset_frame, find_in_any_project
from offdiag_web.components.samples import picture_response
from offdiag_web.urls.datasets import DatasetAddress

blueprint = Blueprint("sample_content", __name__)
find_in_any_project(blueprint)


@blueprint.get(f"{DATASET}/content")
@requires(Role.EDITOR)
def page(name: str) -> Response:
    return _form(name)


@blueprint.post(f"{DATASET}/content")
def change(name: str) -> Response:
    database, project = current_registry().database, requested_project()
    try:
        set_places(
            database,
            project=project,
            dataset=name,
            places=_places(request.form),
            hosts=current_registry().content_hosts,
            seen=_places(request.form, "seen_"),
        )
    except InvalidInput as error:
        return _form(name, request.form, failure_of(error))
    except Stale as error:
        stored = _fields_of(browse_content(database, project=project, dataset=name).places)
        before = {field: request.form.get(f"seen_{field}") for field in stored}
        typed = {field: request.form.get(field, "").strip() for field in stored}
        shown = {
            each: typed[each] if typed[each] != before[each] else stored[each] for each in stored
        }
        seen = {f"seen_{field}": value for field, value in stored.items()}
        answer = _form(name, {**shown, **seen}, failure_of(error))
        answer.status_code = status_of(error)
        return answer
    return redirect(DatasetAddress(project, name).content_url(), 303)


@blueprint.get(f"{DATASET}/image")
def image(name: str) -> Response:
    found = picture(
        current_registry().database,
        project=requested_project(),
        dataset=name,
        sample=request.args.get("sample", ""),
        is_large=request.args.get("size") == "image",
    )
    return picture_response(found, request)


def _fields_of(places: ContentPlaces) -> dict[str, str]:
    """The fields of the form for templates and the hidden setting."""
    return {
        "image_template": places.image_template or "",
        "link_template": places.link_template or "",
        "hidden": "on" if places.is_hidden else "",
    }


def _places(typed: Mapping[str, str], prefix: str = "") -> ContentPlaces:
    """What a form holds, or (with the prefix) what it held when it was opened."""
    image, link, hidden = (
        typed.get(f"{prefix}{field}", "").strip()
        for field in ("image_template", "link_template", "hidden")
    )
    return ContentPlaces(image or None, link or None, bool(hidden))


def _form(
    name: str, typed: Mapping[str, str] | None = None, failure: Failure | None = None
) -> Response:
    database, project = current_registry().database, requested_project()
    found = browse_content(database, project=project, dataset=name)
    html = render_template(
        "samples/content.html",
        address=DatasetAddress(found.dataset.project, found.dataset.name),
        frame=dataset_frame(found.dataset, found.size, current="data"),
        stored=stored_text(found.totals),
        limit_mb=current_registry().settings.server.content_limit_mb,
        hosts=tuple(sorted(current_registry().content_hosts)),
        typed=_fields_of(found.places) if typed is None else typed,
        failure=failure,
    )
    return make_response(html, REFUSED if failure else 200)


def stored_text(totals: ContentTotals) -> str:
    """ "608 samples: 608 images, 9 texts; 1.2 MB, 2.0 kB a sample"."""
    if not totals.n_samples:
        return "Nothing is stored yet."
    kinds = [
        numbers.plural(n, word)
        for n, word in (
            (totals.n_images, "image"),
            (totals.n_texts, "text"),
            (totals.n_fields, "table row"),
        )
        if n
    ]
    each = byte_size(round(totals.n_bytes / totals.n_samples))
    return (
        f"{numbers.plural(totals.n_samples, 'example')}: {', '.join(kinds) or 'links'}; "
        f"{byte_size(totals.n_bytes)}, {each} per example."
    )
