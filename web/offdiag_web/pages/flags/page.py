"""The inbox of flags, and decisions about several of them at once."""

from __future__ import annotations

from flask import (
    Blueprint,
    flash,
    make_response,
    redirect,
    render_template,
    request,
)
from werkzeug.wrappers import Response

from offdiag.errors import Conflict, InvalidInput
from offdiag.records.flag import FLAG_COLUMNS, FlagList, flag_document
from offdiag.services.flags.page import browse_flags
from offdiag.store.flag_inbox import flag_counts
from offdiag_web.app.context import current_registry
from offdiag_web.app.errors import status_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.paths import SENT_BY_FORM, TWIN, own_path
from offdiag_web.app.preferences import require_user_name
from offdiag_web.pages.flags.inbox import Refused, flag_list_view
from offdiag_web.pages.flags.triage import carry_out, read_decision
from offdiag_web.urls.flags import ALL, FlagListAddress, read_flag_list

blueprint = Blueprint("flags", __name__)


@blueprint.get("/flags")
def page() -> Response:
    address, notices = read_flag_list(request.args)
    if SENT_BY_FORM in request.args and not notices:
        return redirect(address.url())
    return _page(address, notices, Refused())


@blueprint.get(f"/flags{TWIN}")
def twin(form: str) -> Response:
    address, _ = read_flag_list(request.args)
    database = current_registry().database
    found = browse_flags(database, address.filter, after=address.place)
    flags = [flag_document(entry, database.clock()) for entry in found.entries]
    if form == "csv":
        return csv_response("flags", FLAG_COLUMNS, [flag.row(FLAG_COLUMNS) for flag in flags])
    return json_response(
        FlagList(
            state=ALL if address.state is None else address.state.value,
            filter=dict(address.fields.named()),
            counts={state.value: count for state, count in found.counts.items()},
            flags=flags,
            next=None if found.following is None else address.at(found.following).url("json"),
        )
    )


@blueprint.post("/flags")
def decide() -> Response:
    registry = current_registry()
    typed, tokens = request.form.to_dict(), request.form.getlist("flag")
    try:
        decision = read_decision(
            typed.get("action", ""), tokens, typed, author=require_user_name()
        )
        flash(carry_out(registry.database, decision))
    except (Conflict, InvalidInput) as error:
        address, notices = read_flag_list(request.args)
        chosen = [token.partition(".")[0] for token in tokens]
        selected = {int(number) for number in chosen if number.isascii() and number.isdigit()}
        answer = _page(address, notices, Refused.because(error, typed, selected=selected))
        answer.status_code = status_of(error)
        return answer
    registry.open_flags.forget()
    return redirect(own_path(typed.get("back", "/flags")), 303)


def _page(address: FlagListAddress, notices: list[str], refused: Refused) -> Response:
    database = current_registry().database
    found = browse_flags(database, address.filter, after=address.place)
    without: tuple[int, ...] = ()
    keys = [key for key, _ in address.fields.named()]
    if not found.entries and keys:
        others = [address.without(key).filter for key in keys]
        with database.read() as session:
            without = flag_counts(session, others, now=database.clock())
    view = flag_list_view(found, address, now=database.clock(), without=without, refused=refused)
    return make_response(render_template("flags/page.html", view=view, notices=notices))
