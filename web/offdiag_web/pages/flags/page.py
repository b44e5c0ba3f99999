"""Exports of the list of flags for programs; people get the list of problems instead."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, redirect, request
from werkzeug.wrappers import Response

from offdiag.records.flag import FLAG_COLUMNS, FlagList, flag_document
from offdiag.services.flags.page import browse_flags
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.urls.flags import ALL, read_flag_list, read_problems
from offdiag_web.urls.query_string import with_query

blueprint = Blueprint("flags", __name__)


@blueprint.get("/flags")
def page() -> Response:
    address, notices = read_problems(request.args)
    # The list of problems says what it cannot read.
    return redirect(with_query("/problems", request.args) if notices else address.url())


@blueprint.get(f"/flags{DATA_FORMAT}")
def export(form: str) -> Response:
    address = read_flag_list(request.args)
    database = current_registry().database
    found = browse_flags(database, address.filter, after=address.place)
    flags = [flag_document(entry, database.clock()) for entry in found.entries]
    if form == "csv":
        return csv_response("flags", FLAG_COLUMNS, [flag.row(FLAG_COLUMNS) for flag in flags])
    return json_response(
        FlagList(
            state=ALL if address.state is None else address.state.value,
            filter=dict(address.fields),
            counts={state.value: count for state, count in found.counts.items()},
            flags=flags,
            next=None
            if found.following is None
            else replace(address, place=found.following).url("json"),
        )
    )
