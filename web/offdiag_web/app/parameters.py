"""Parameters of addresses that are not read, or not understood: they would show something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from flask import Flask, request
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from offdiag.errors import InvalidInput
from offdiag_web.app.context import LOOKING
from offdiag_web.app.dispatch import SENT_BY_FORM
from offdiag_web.urls.query_string import unknown_parameters

Asked = TypeVar("Asked")


def understood(read: tuple[Asked, Sequence[str]]) -> Asked:
    """What an export is asked for, by an address as it was read.

    A page goes on without what cannot be meant and tells it in a notice. An export has no place
    for one, and its reader would take other rows for those. Raises `InvalidInput`.
    """
    asked, notices = read
    if notices:
        raise InvalidInput(
            " ".join(notices), field="query", hint="Correct it in the address, or leave it out."
        )
    return asked


class WatchedParameters(ImmutableMultiDict[str, str]):
    """The parameters of a request, and the names that were asked for.

    What a page reads is thus known without a list beside it. To go over all of them is not to
    read any.
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
    """Watch the parameters of requests from where their views begin."""

    @app.before_request
    def watch() -> None:
        if request.method in LOOKING:
            request.args = WatchedParameters(request.args)

    app.template_global("unread_parameters")(_unread)


def _unread() -> list[str]:
    """A notice of the parameters that the page has not read so far, if there are any.

    Forms send what belongs to other buttons of theirs, which nobody typed.
    """
    given = request.args
    if not isinstance(given, WatchedParameters) or SENT_BY_FORM in given:
        return []
    return unknown_parameters(given, given.asked_for)
