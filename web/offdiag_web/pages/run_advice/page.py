"""Which numbers to report about a run, from what it is for and what is known of its use."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, jsonify, redirect, request
from werkzeug.wrappers import Response

from offdiag.advice.recommendation import Advice
from offdiag.errors import InvalidInput
from offdiag.sdk.advise import advise
from offdiag.store.run_page import RunDetail
from offdiag_web.app.paths import SENT_BY_FORM
from offdiag_web.components.run_frame import RUN, results_of, run_page, stored_run
from offdiag_web.pages.run_advice.address import AdviceAddress, read_advice
from offdiag_web.pages.run_advice.view import advice_form, advice_record, advice_view

blueprint = Blueprint("run_advice", __name__)


@blueprint.get(f"{RUN}/advice")
def page(run_id: str) -> Response:
    address, notices = read_advice(run_id, request.args)
    if SENT_BY_FORM in request.args and not notices:
        return redirect(address.url())
    detail = stored_run(run_id)
    view = not_assessable = None
    if detail.results is not None:
        try:
            view = advice_view(_advice(detail, address), detail.results)
        except InvalidInput as refused:
            if refused.field == "about":
                notices.append(f"{refused.message[:1].upper()}{refused.message[1:]}")
                address = replace(address, about=None)
                view = advice_view(_advice(detail, address), detail.results)
            else:
                not_assessable = f"{refused.message[:1].upper()}{refused.message[1:]}"
    return run_page(
        "run_advice/page.html",
        detail,
        "advice",
        address=address,
        form=advice_form(detail, address),
        view=view,
        not_assessable=not_assessable,
        notices=notices,
    )


@blueprint.get(f"{RUN}/advice.json")
def advice_json(run_id: str) -> Response:
    address, _ = read_advice(run_id, request.args)
    detail = stored_run(run_id)
    return jsonify(advice_record(_advice(detail, address), results_of(detail), address))


def _advice(detail: RunDetail, address: AdviceAddress) -> Advice:
    return advise(
        results_of(detail).matrix,
        goal=address.goal.value,
        about=address.about,
        balance_known=address.balance_known,
        has_scores=detail.run.score_columns > 0,
    )
