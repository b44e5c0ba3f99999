"""Exports of the list of flags for programs; people get the list of problems instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from flask import Blueprint, redirect, request
from werkzeug.wrappers import Response

from offdiag.records.flag import FLAG_COLUMNS, FlagList, flag_document
from offdiag.services.flags.page import browse_flags
from offdiag.store.flag_inbox import FlagEntry
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.parameters import understood
from offdiag_web.urls.flags import ALL, FlagListAddress, read_flag_list, read_problems
from offdiag_web.urls.query_string import with_query

FLAGS_READ_AT_ONCE = 1_000

blueprint = Blueprint("flags", __name__)


@blueprint.get("/flags")
def page() -> Response:
    address, notices = read_problems(request.args)
    # The list of problems says what it cannot read.
    return redirect(with_query("/problems", request.args) if notices else address.url())


@blueprint.get(f"/flags{DATA_FORMAT}")
def export(form: str) -> Response:
    """JSON has one page and the address of the next; CSV has the flags of all pages."""
    address = understood(read_flag_list(request.args))
    database = current_registry().database
    now = database.clock()
    if form == "csv":
        flags = (flag_document(entry, now) for entry in _all_entries(address))
        return csv_response("flags", FLAG_COLUMNS, [flag.row(FLAG_COLUMNS) for flag in flags])
    found = browse_flags(database, address.filter, after=address.place)
    return json_response(
        FlagList(
            state=ALL if address.state is None else address.state.value,
            filter=dict(address.fields),
            counts={state.value: count for state, count in found.counts.items()},
            flags=[flag_document(entry, now) for entry in found.entries],
            next=None
            if found.following is None
            else replace(address, place=found.following).url("json"),
        )
    )


def _all_entries(address: FlagListAddress) -> Iterator[FlagEntry]:
    """The flags from the place of an address on."""
    database, place = current_registry().database, address.place
    while True:
        found = browse_flags(database, address.filter, after=place, limit=FLAGS_READ_AT_ONCE)
        yield from found.entries
        if found.following is None:
            return
        place = found.following
