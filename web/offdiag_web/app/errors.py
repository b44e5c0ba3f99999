"""Errors as pages and API responses, with one table from kinds of error to statuses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode, urlsplit

import structlog
from flask import (
    Flask,
    Response,
    current_app,
    g,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from werkzeug.exceptions import HTTPException, InternalServerError, MethodNotAllowed
from werkzeug.exceptions import NotFound as NotFoundAddress

from offdiag.domain.sentences import capitalized, typeset
from offdiag.domain.texts import shortened
from offdiag.errors import (
    Conflict,
    DamagedData,
    DatabaseUnavailable,
    EvaluationFailed,
    EvaluationPending,
    Forbidden,
    InvalidInput,
    Malformed,
    MissingExtra,
    NotFound,
    NotSignedIn,
    OffdiagError,
    SchemaMismatch,
    Stale,
    StorageFull,
    TooLarge,
    TooManyRequests,
)
from offdiag_web.app.context import SAFE_METHODS, signed_in_user
from offdiag_web.app.dispatch import PREFIX, is_for_programs, loggable_path, own_path
from offdiag_web.app.forms import SECRETS, kept_text

log = structlog.get_logger()

STATUS_OF: dict[type[OffdiagError], int] = {
    InvalidInput: 400,
    NotSignedIn: 401,
    Forbidden: 403,
    NotFound: 404,
    TooLarge: 413,
    Conflict: 409,
    EvaluationFailed: 409,
    TooManyRequests: 429,
    DatabaseUnavailable: 503,
    SchemaMismatch: 503,
    EvaluationPending: 503,
    StorageFull: 507,
    MissingExtra: 500,
    DamagedData: 500,
}
API_STATUS_OF: dict[type[OffdiagError], int] = {
    **STATUS_OF,
    Malformed: 400,
    InvalidInput: 422,
    Stale: 412,
    EvaluationPending: 409,
}
"""The API separates malformed requests from invalid values, because clients react differently."""
RETRY_AFTER_S = 5
_KIB = 1024
EVALUATION_AFTER_S = 1

_TITLES = {
    400: "This request cannot be understood",
    401: "Sign in",
    403: "This request is refused",
    404: "Not found",
    405: "This page cannot be used that way",
    409: "This conflicts with what is stored",
    413: "This request is too large",
    429: "Too many requests",
    500: "Something went wrong",
    503: "The registry is not available",
    507: "The registry has no room left",
}
_OUT_OF_MEMORY = "out_of_memory"
_TITLES_OF_CODES = {
    EvaluationPending.code: "There are no metrics yet",
    _OUT_OF_MEMORY: "The server is short of memory",
}
_HINTS = {
    404: "Check the address, or start from the list of runs.",
    405: "Open the page by its link instead.",
    500: "The server logged the error as request {}. Other pages still work.",
}
_API_HINTS = {
    404: f"{PREFIX}/openapi.json describes every address.",
    415: f"{PREFIX}/openapi.json says what each address takes.",
    500: "The error is in the log of the server, as request {}.",
}
REQUESTS = {
    "cost default": "PUT {}/datasets/{{name}}/cost-matrix",
    "cost labels": "POST {}/runs/{{id}}/label-costs",
    "cost list": "GET {}/cost-matrices",
    "doctor": "GET {}/jobs",
    "flags list": "GET {}/flags",
    "hierarchy": "PUT {}/datasets/{{name}}/hierarchy",
    "problems": "GET {}/problems",
    "report list": "GET {}/reports",
    "runs delete": "DELETE {}/runs/{{id}}",
    "runs deleted": "GET {}/deleted-runs",
    "runs list": "GET {}/runs",
    "runs restore": "POST {}/runs/{{id}}/restore",
    "samples remove": "POST {}/datasets/{{name}}/samples/remove",
    "schedule list": "GET {}/schedules",
    "schedule run": "POST {}/schedules/{{name}}/run",
    "truth revise": "POST {}/datasets/{{name}}/truth",
    "truth show": "GET {}/datasets/{{name}}/truth",
    "user add": "POST {}/users",
}
"""The API request that does the same as a command in a hint; other commands are for admins."""
_PAGES = {
    "cost default": "“Make this version the default” on the page of the costs",
    "cost list": "the list of costs",
    "doctor": "the list of jobs",
    "flags list": "the list of problems",
    "problems": "the list of problems",
    "report list": "the list of reports",
    "runs list": "the list of runs",
    "schedule list": "the list of reports",
    "schedule run": "“Run now” on its page",
    "truth show": "the tab Data of the dataset",
    "user add": "the list of users",
}
"""What pages offer for a command that a hint names."""
_COMMAND = re.compile(r"`offdiag ([a-z]+(?: [a-z]+)?)[^`]*`")


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, with the fields that every format of the response shows."""

    status: int
    code: str
    message: str
    field: str | None = None
    hint: str | None = None
    kind: str | None = None

    @property
    def title(self) -> str:
        known = _TITLES_OF_CODES.get(self.code) or _TITLES.get(self.status)
        return known or "This request failed"


def register(app: Flask) -> None:
    """Respond to every error in the format the request asked for."""

    app.register_error_handler(OffdiagError, domain_response)

    app.register_error_handler(HTTPException, http_response)

    app.register_error_handler(MemoryError, _without_memory)

    @app.template_global("error_before")
    def error_before() -> str:
        """The text that `show_on_next_page` stored; empty if it was not called."""
        return str(session.pop(_SHOWN_NEXT)) if _SHOWN_NEXT in session else ""

    @app.errorhandler(500)
    def respond_to_defect(error: InternalServerError) -> Response:
        original = error.original_exception
        if isinstance(original, OffdiagError):
            return domain_response(original)
        return _answer(_http_failure(error))


_BUTTON = frozenset({"csrf_token", "back", "form"})
"""All fields sent by a form that is only a button, with nothing typed or chosen."""
_SHOWN_NEXT = "told"
"""Key of the session for the error that the next page shows."""


def domain_response(error: OffdiagError, ways_out: Sequence[tuple[str, str]] = ()) -> Response:
    """The response to a request that ended with an error of the domain.

    An error page offers `ways_out`, each a text and an address.
    """
    page = _page_instead(error) if isinstance(error, (Conflict, NotFound)) else None
    if page is not None:
        return make_response(redirect(page, 303))
    if isinstance(error, DamagedData):
        # What could not be read is known to its cause, and so is a defect that looks like damage.
        log.error("damaged_data", path=loggable_path(request.path), exc_info=error)
    response = _answer(_failure_of(error), ways_out=ways_out)
    if isinstance(error, EvaluationPending):
        response.retry_after = EVALUATION_AFTER_S
    if isinstance(error, TooManyRequests):
        response.retry_after = error.retry_after_s
    if isinstance(error, NotSignedIn):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def show_on_next_page(error: OffdiagError) -> None:
    """Store the text of an error for the top of the next page that this browser loads."""
    session[_SHOWN_NEXT] = sentence_of(error)


def _page_instead(error: Conflict | NotFound) -> str | None:
    """The page to redirect to if the request pressed a button too late; None to show the error.

    If that page is gone as well, it redirects to the list that had it.
    """
    if is_for_programs() or request.path.endswith((".json", ".csv")):
        return None
    if request.method in SAFE_METHODS:
        is_gone = _SHOWN_NEXT in session and bool(request.view_args)
        return f"{request.script_root}/{request.path.split('/')[1]}" if is_gone else None
    page = _page_before() if request.form.keys() <= _BUTTON else None
    if page is not None:
        show_on_next_page(error)
    return page


def http_response(error: HTTPException) -> Response:
    """The response to a request that ended with an HTTP error."""
    response = _answer(_http_failure(error))
    for name, value in error.get_headers():
        if name not in {"Content-Type", "Content-Length"}:
            response.headers[name] = value
    return response


def outdated_form_response() -> Response:
    """The response to a form whose token is missing or of another cookie."""
    hint = (
        "Open its page again and submit it once more. If this page appears again, your browser "
        "does not keep the cookies of this server."
    )
    text = "This form has expired, so nothing was saved: the cookie of its page is gone."
    return _answer(Failure(403, "forbidden", text, hint=hint))


def page_with_form(template: str, error: OffdiagError | None, **values: object) -> Response:
    """A page with a form, and what is wrong with what was sent, if anything is."""
    failure = None if error is None else failure_of(error)
    text = render_template(template, failure_of_form=failure, **values)
    return make_response(text, 200 if failure is None else failure.status)


REFUSED = 422
"""The status of a page that shows its form again because what was sent is invalid."""


def status_of(error: OffdiagError) -> int:
    """The status of the response to a request that ended with an error of the domain."""
    table = API_STATUS_OF if is_for_programs() else STATUS_OF
    return next((table[kind] for kind in type(error).mro() if kind in table), 500)


def failure_of(error: OffdiagError) -> Failure:
    """What a page says about an error of the domain."""
    return _printed(_failure_of(error))


def _failure_of(error: OffdiagError) -> Failure:
    status = status_of(error)
    message, hint = capitalised(error.message), hint_of(error)
    return Failure(status, error.code, message, error.field, hint, error.kind)


def _printed(failure: Failure) -> Failure:
    """The failure with typographic quotes and signs; programs get those that can be typed."""
    return replace(
        failure, message=typeset(failure.message), hint=failure.hint and typeset(failure.hint)
    )


def _http_failure(error: HTTPException) -> Failure:
    status = error.code or 500
    code = (error.name or "error").lower().replace(" ", "_")
    hints = _API_HINTS if is_for_programs() else _HINTS
    hint = hints.get(status, "").format(g.get("request_id", ""))
    if status == 413 and (limit := request.max_content_length):
        place = "address" if is_for_programs() else "page"
        hint = f"At most {limit // _KIB:,} KiB can be sent to this {place}."
    text = error.description or error.name
    if status == 404 and text == NotFoundAddress.description:
        # The description of the library would repeat the advice in the hint.
        text = f"Nothing is at {shortened(request.path, longest=80)}."
    if isinstance(error, MethodNotAllowed) and is_for_programs():
        text = f"{request.method} is not a method of {shortened(request.path, longest=80)}."
        methods = {*(error.valid_methods or ())} - {"HEAD", "OPTIONS"}
        hint = f"Use {' or '.join(sorted(methods))}."
    return Failure(status, code, text, hint=hint or None)


def capitalised(text: str) -> str:
    """A sentence with a capital, unless it begins with the name of an argument, as y_true."""
    return text if "_" in text.partition(" ")[0] else capitalized(text)


def sentence_of(error: OffdiagError) -> str:
    """What is wrong and what to do about it."""
    message, hint = typeset(capitalised(error.message)), hint_of(error)
    return f"{message} {typeset(hint)}" if hint else message


def message_of(error: OffdiagError) -> str:
    """What is wrong, to be part of a sentence on a page."""
    return typeset(error.message)


def hint_of(error: OffdiagError) -> str | None:
    """What to do about it, with pages in place of commands if a page was requested."""
    hint = error.hint
    if hint is None or _COMMAND.search(hint) is None:
        return hint
    if is_for_programs() or request.path.endswith(".json"):
        return hint
    return _COMMAND.sub(_page_for, hint)


def _page_for(command: re.Match[str]) -> str:
    page, before = _PAGES.get(command[1], command[0]), command.string[: command.start()]
    return page if before and not before.endswith(". ") else capitalised(page)


def _answer(failure: Failure, *, ways_out: Sequence[tuple[str, str]] = ()) -> Response:
    response = _body(failure, ways_out)
    response.status_code = failure.status
    response.cache_control.no_store = True
    if failure.status == 503:
        response.retry_after = RETRY_AFTER_S
    return response


def _body(failure: Failure, ways_out: Sequence[tuple[str, str]]) -> Response:
    if is_for_programs() or request.path.endswith(".json"):
        parts = {
            "code": failure.code,
            **({} if failure.kind is None else {"kind": failure.kind}),
            "message": failure.message,
            "field": failure.field,
            "hint": _for_programs(failure.hint),
        }
        return jsonify(error=parts)
    if request.path.endswith(".csv"):
        text = " ".join(filter(None, (failure.message, failure.hint)))
        return Response(f"{text}\n", mimetype="text/plain")
    failure = _printed(failure)
    if failure.status == 401:
        return make_response(
            render_template(
                "access/sign_in.html",
                failure=failure,
                next=own_address(),
                is_form=request.method not in SAFE_METHODS,
                typed=typed_texts(),
                # A page of this server sent it, so no other site can have it sent again.
                kept=kept_text() if _page_before() is not None else "",
            )
        )
    return make_response(
        render_template(
            "failure.html",
            failure=failure,
            ways_out=ways_out or _ways_out(failure),
            typed=typed_texts(),
        )
    )


def _for_programs(hint: str | None) -> str | None:
    """The hint with requests in place of commands, except for our own client, which has both."""
    if hint is None or request.user_agent.string.startswith("offdiag/"):
        return hint
    return _COMMAND.sub(
        lambda found: (
            f"`{REQUESTS[found[1]].format(PREFIX)}`" if found[1] in REQUESTS else found[0]
        ),
        hint,
    )


def _ways_out(failure: Failure) -> tuple[tuple[str, str], ...]:
    """Links that lead on, each a text and an address; empty if there are none.

    They lead back to the form, to the user's roles if the user may not view the page, or to the
    page without the invalid part of its query.
    """
    if request.method not in SAFE_METHODS:
        page = own_address()
        return () if page == "/" else (("Back", page),)
    if failure.status == 403 and signed_in_user().is_signed_in:
        return (("Account", url_for("account.page")),)
    if failure.status not in {400, 404, 409}:
        return ()
    given = list(request.args.items(multi=True))
    wrong = [each for each in given if each[0] == failure.field]
    text = shortened(" ".join(f"{name}={value}" for name, value in wrong), longest=80)
    if not wrong and failure.status == 400:
        wrong, text = [each for each in given if each[0] != "project"], "its parameters"
    if not wrong:
        return ()
    query = urlencode([each for each in given if each not in wrong])
    page = f"{quote(request.path)}{'?' if query else ''}{query}"
    return ((f"This page without {text}", page),)


def _without_memory(error: MemoryError) -> Response:
    # The memory of the failed request is free again, so the server can continue.
    log.warning(_OUT_OF_MEMORY, path=loggable_path(request.path), error=str(error))
    return _answer(
        Failure(
            503,
            _OUT_OF_MEMORY,
            "This request needs more memory than the server has left.",
            hint="Try again in a moment, or send or ask for less at once.",
        )
    )


def typed_texts() -> list[str]:
    """Texts of several words in a refused form, shown so that the user can copy them."""
    if request.method in SAFE_METHODS:
        return []
    try:
        fields = [*request.form.items(multi=True)]
    except HTTPException:  # The form is too large.
        return []
    return [text for name, text in fields if name not in SECRETS and len(text.split()) > 1]


def own_address() -> str:
    """The address to return to: the page that was requested, or the one with the form."""
    if request.path.startswith("/sign-in"):
        return "/"
    if request.method == "GET":
        return request.full_path.rstrip("?")
    return _page_before() or "/"


def _page_before() -> str | None:
    """The page with the form, if the browser sends its address and it still exists."""
    page, adapter = urlsplit(request.referrer or ""), current_app.create_url_adapter(request)
    path = page.path.removeprefix(request.script_root)
    # A form that was refused before is shown at the address it was sent to, which is no page.
    if page.netloc != request.host or adapter is None or not adapter.test(path, method="GET"):
        return None
    return own_path(f"{page.path}?{page.query}".rstrip("?"))
