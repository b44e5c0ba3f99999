"""The page that adds or removes a tag of several runs, opened from the list of runs."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, flash, redirect, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.errors import InvalidInput, OffdiagError
from offdiag.services.run_notes import remove_tag, tag_runs
from offdiag.store.runs import get_run
from offdiag_web.app.context import current_registry, requires
from offdiag_web.app.errors import page_with_form
from offdiag_web.components import numbers
from offdiag_web.components.controls import tag_text
from offdiag_web.urls.run_list import RunListAddress, read_run_list

blueprint = Blueprint("run_tags", __name__)


@blueprint.get("/runs/tag")
@requires(Role.EDITOR)
def page() -> Response:
    """The selected runs, and a field for the tag; the list if none is selected."""
    address = _address(request.args)
    return _page(address) if address.selected else redirect(address.url())


def _page(address: RunListAddress, *, refused: OffdiagError | None = None) -> Response:
    with current_registry().database.read() as session:
        found = [get_run(session, run_id) for run_id in address.selected]
    keys = sorted({key for run in found for key in run.tags})
    return page_with_form(
        "runs/tags.html",
        refused,
        runs=found,
        keys=keys,
        back=address.url(),
        tag=request.form.get("tag", ""),
    )


@blueprint.post("/runs/tag")
def change() -> Response:
    """Add or remove the tag "key=value", and return to the list with the runs still selected.

    "key" alone removes the tag whatever its value.
    """
    address = _address(
        MultiDict([*request.args.items(multi=True), *request.form.items(multi=True)])
    )
    key, _, value = (part.strip() for part in request.form.get("tag", "").partition("="))
    is_removed = request.form.get("action") == "remove"
    if not key:
        hint = 'Write "key=value" or "key".'
        return _page(address, refused=InvalidInput("no tag was entered.", field="tag", hint=hint))
    database = current_registry().database
    try:
        if is_removed:
            n_had = remove_tag(database, address.selected, key, value=value or None)
        else:
            tag_runs(database, address.selected, key, value)
    except InvalidInput as error:
        return _page(address, refused=error)
    tag = tag_text(key, value)
    if not is_removed:
        flash(f"Tagged {numbers.plural(len(address.selected), 'run')}: {tag}.")
    elif n_had:
        flash(f"Removed tag {tag} from {numbers.plural(n_had, 'run')}.")
    else:
        flash(f"No selected run had the tag {tag}.")
    return redirect(address.url(), 303)


def _address(values: MultiDict[str, str]) -> RunListAddress:
    address, _ = read_run_list(values, now=current_registry().database.clock())
    ticked, _ = read_run_list({"sel": ",".join(values.getlist("runs"))})
    return replace(address, selected=ticked.selected) if ticked.selected else address
