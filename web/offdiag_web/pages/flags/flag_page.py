"""One flag, and decisions about it."""

from __future__ import annotations

from flask import (
    Blueprint,
    flash,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response

from offdiag.errors import Conflict, InvalidInput
from offdiag.records.flag import CHECK_COLUMNS, check_rows, flag_explained
from offdiag.services.flags.page import FlagDetail, browse_flag
from offdiag.services.flags.rules import RulesInForce, thresholds_in
from offdiag_web.app.context import current_registry
from offdiag_web.app.errors import status_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.paths import TWIN, own_path
from offdiag_web.app.preferences import require_user_name
from offdiag_web.components.recall_by_size import CLASS_COLUMNS, class_rows
from offdiag_web.pages.flags.inbox import Refused
from offdiag_web.pages.flags.triage import ACTIONS, carry_out, read_decision
from offdiag_web.pages.flags.view import flag_page_view, floor_of
from offdiag_web.urls.flags import flag_url

blueprint = Blueprint("flag", __name__)

_FLAG = "/flags/<int(max=9223372036854775807):number>"


@blueprint.get(_FLAG)
def page(number: int) -> Response:
    return _page(number, Refused())


@blueprint.get(f"{_FLAG}{TWIN}")
def twin(number: int, form: str) -> Response:
    flag = flag_explained(_detail(number), current_registry().database.clock())
    if form == "json":
        return json_response(flag)
    return csv_response(f"flag-{number}", CHECK_COLUMNS, check_rows(flag))


@blueprint.get(f"{_FLAG}/classes.csv")
def classes(number: int) -> Response:
    detail = _detail(number)
    rows = class_rows(detail.recalls, floor_of(detail))
    return csv_response(f"flag-{number}-classes", CLASS_COLUMNS, rows)


@blueprint.post(f"{_FLAG}/<any({', '.join(ACTIONS)}):action>")
def decide(number: int, action: str) -> Response:
    registry = current_registry()
    typed = request.form.to_dict()
    try:
        token = f"{number}.{typed.get('seen', '')}"
        decision = read_decision(action, [token], typed, author=require_user_name())
        flash(carry_out(registry.database, decision))
    except (Conflict, InvalidInput) as error:
        answer = _page(number, Refused.because(error, typed))
        answer.status_code = status_of(error)
        return answer
    registry.open_flags.forget()
    return redirect(own_path(typed.get("back", flag_url(number))), 303)


def _page(number: int, refused: Refused) -> Response:
    view = flag_page_view(
        _detail(number),
        now=current_registry().database.clock(),
        run_url=lambda run_id: url_for("run_matrix.page", run_id=run_id),
        refused=refused,
    )
    return make_response(render_template("flags/flag.html", view=view))


def _detail(number: int) -> FlagDetail:
    registry = current_registry()
    rules = RulesInForce(thresholds_in(registry.settings.flags))
    return browse_flag(registry.database, number, rules)
