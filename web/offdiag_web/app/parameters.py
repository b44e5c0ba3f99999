"""Query parameters that are unused or not understood: ignoring one would change the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from flask import Flask, Response, request
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from offdiag.errors import InvalidInput
from offdiag_web.app.context import SAFE_METHODS
from offdiag_web.app.dispatch import SENT_BY_FORM, is_for_programs
from offdiag_web.app.errors import domain_response
from offdiag_web.urls.query_string import unknown_parameters

Asked = TypeVar("Asked")
_EXPORTS = (".json", ".csv", ".md", ".tex")


def understood(read: tuple[Asked, Sequence[str]]) -> Asked:
    """What an export is asked for, as read from its address.

    A page ignores invalid values and says so in a notice. An export has no place for a notice, and
    its reader would take other rows for the requested ones. All its other parameters have to be
    read before, so that it is refused for unknown ones before it is computed. Raises
    `InvalidInput`.
    """
    asked, notices = read
    _require_none(notices)
    refuse_unread()
    return asked


def refuse_unread() -> None:
    """Raise `InvalidInput` for an export with parameters that have not been read so far."""
    if request.path.endswith(_EXPORTS) and not is_for_programs():
        _require_none(_unread())


def _require_none(notices: Sequence[str]) -> None:
    if notices:
        raise InvalidInput(
            " ".join(notices), field="query", hint="Correct it in the address, or leave it out."
        )


class WatchedParameters(ImmutableMultiDict[str, str]):
    """The query parameters of a request, recording which of them were read.

    This shows what a page reads without a separate list. Iterating over all of them does not count
    as reading.
    """

    def __init__(self, given: MultiDict[str, str]) -> None:
        super().__init__(given)
        self.asked_for: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked_for.add(str(name))
        return super().__contains__(name)

    def getlist(self, key: str, *how: Any) -> list[Any]:
        self.asked_for.add(key)
        return super().getlist(key, *how)


def register(app: Flask) -> None:
    """Watch the parameters of each request from the start of its view.

    A page names those it did not read, and an export is refused for them: here, unless it called
    `refuse_unread` before.
    """

    @app.before_request
    def watch() -> None:
        if request.method in SAFE_METHODS:
            request.args = WatchedParameters(request.args)

    app.template_global("unread_parameters")(_unread)

    @app.after_request
    def refuse_export(response: Response) -> Response:
        if response.status_code != 200 or response.mimetype == "text/html":
            return response
        try:
            refuse_unread()
        except InvalidInput as error:
            response.close()
            return domain_response(error)
        return response


def _unread() -> list[str]:
    """A notice of the parameters that the page has not read so far, if there are any.

    There is none for forms, which also send fields that belong to other buttons and no one typed.
    """
    given = request.args
    if not isinstance(given, WatchedParameters) or SENT_BY_FORM in given:
        return []
    return unknown_parameters(given, given.asked_for)
