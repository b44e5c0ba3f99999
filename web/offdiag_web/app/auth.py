"""Authentication, authorization and rate limits of every request, by what its view requires.

An admitted request gets a registry that contains only what its caller can view, and that records
the caller as the author of changes. Attempts are counted by address or name.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

from flask import Flask, Response, current_app, g, request, session
from flask_login import LoginManager, UserMixin, current_user
from flask_wtf.csrf import ValidationError, validate_csrf
from limits import RateLimitItem, parse_many
from limits.errors import ConfigurationError
from limits.storage import storage_from_string
from limits.strategies import MovingWindowRateLimiter
from werkzeug.exceptions import Forbidden as ForbiddenResponse
from werkzeug.wrappers import Response as WsgiResponse

from offdiag.domain.access import (
    EVERYTHING,
    Actor,
    Caller,
    CallerKind,
    Role,
    may,
    may_anywhere,
    projects_of,
)
from offdiag.errors import Forbidden, InvalidInput, NotSignedIn, TooManyRequests
from offdiag.services.access.sessions import SessionLife, caller_of_session, caller_of_token
from offdiag.settings import AccessSettings
from offdiag.settings.model import needs_sign_in
from offdiag.store.retries import after_failures
from offdiag_web.app import openid
from offdiag_web.app.context import (
    SAFE_METHODS,
    CurrentUser,
    Rate,
    Registry,
    Requirement,
    ResourceProjects,
    current_registry,
    narrow_registry,
    rate_of,
    requirement_of,
    resource_projects,
    signed_in_user,
)
from offdiag_web.app.dispatch import is_for_programs, lazy_views
from offdiag_web.app.preferences import user_name_if_given
from offdiag_web.app.security import unmasked

SCHEME = "Bearer"
ASSETS_ENDPOINT = "assets.serve"
LOCAL_NAME = "local"


@dataclass(slots=True)
class SignedIn(UserMixin):  # type: ignore[misc]  # the library ships no types
    """What the session cookie of a browser identifies: a session, by its secret."""

    secret: str
    caller: Caller

    def get_id(self) -> str:
        return self.secret


def guard(app: Flask, registry: Registry) -> None:
    """Protect `app` as the settings and its views require."""
    asks = needs_sign_in(registry.settings)
    life = session_life(registry.settings.access)
    limit_rates(app, registry.settings.access, counts=asks)
    openid.register_provider(app, registry.settings.oidc)
    sessions = LoginManager()
    # A session is valid as long as its row says, even if its owner's address changes.
    sessions.session_protection = None
    # Not with `init_app`, which looks for a second cookie of its own after every request and so
    # makes every response vary by cookie, even those of images and scripts.
    app.login_manager = sessions  # type: ignore[attr-defined]  # where the library looks

    @sessions.user_loader  # type: ignore[untyped-decorator]
    def load(secret: str) -> SignedIn | None:
        caller = after_failures(lambda: caller_of_session(registry.database, secret, life))
        return None if caller is None else SignedIn(secret, caller)

    @app.before_request
    def authenticate() -> None:
        required = _requirement()
        if not asks:
            g.current_user = CurrentUser(
                Caller(CallerKind.LOCAL, user_name_if_given() or LOCAL_NAME, EVERYTHING)
            )
        elif required.role is None:
            g.current_user = CurrentUser(None)
        else:
            g.current_user = CurrentUser(_caller(registry))
        _authorize(required, registry)

    @app.after_request
    def keep_out_of_caches(response: Response) -> Response:
        # Otherwise, the back button would show cached pages after signing out. Assets contain
        # nothing from a registry and are the same for all users.
        if asks and request.endpoint != ASSETS_ENDPOINT:
            response.headers["Cache-Control"] = "no-store"
        return response

    app.jinja_env.globals["may_send"] = may_send

    @app.context_processor
    def template_context() -> dict[str, CurrentUser | bool]:
        return {"current_user": signed_in_user(), "has_provider": openid.KEY in app.extensions}


def session_life(settings: AccessSettings) -> SessionLife:
    """How long sessions last according to the settings."""
    return SessionLife(
        idle=timedelta(hours=settings.session_idle_hours),
        longest=timedelta(days=settings.session_days),
    )


def _requirement() -> Requirement:
    # Only callers who may view pages learn that an address leads nowhere.
    view = current_app.view_functions.get(request.endpoint or "")
    return requirement_of(view or (lambda: None), request.method)


def _authorize(required: Requirement, registry: Registry) -> None:
    who = signed_in_user().caller
    count_request(rate_of(required, request.method, is_api=is_for_programs()), who)
    if required.role is None:
        narrow_registry(registry.database.seen_by(frozenset(), _actor(who, ResourceProjects())))
        return
    if who is None:
        raise NotSignedIn(
            "you have to sign in first.",
            field="Authorization" if is_for_programs() else None,
            hint=f"Send the header Authorization: {SCHEME} with a token."
            if is_for_programs()
            else "Use your name and password.",
        )
    if required.in_person and who.kind is CallerKind.TOKEN:
        raise Forbidden(
            "a token may not do this.", hint="Sign in to the dashboard, or use the command line."
        )
    subject = _resource(registry) if _depends_on_resource(who, required) else ResourceProjects()
    if not _is_allowed(who, required, subject):
        account = "/settings/account" if is_for_programs() else "the page Account"
        raise Forbidden(
            f"this needs the role {required.role.value}"
            f"{' in all projects' if required.everywhere or subject.is_registry else ' there'}.",
            hint=f"Ask an admin for it; {account} shows your roles.",
        )
    _refuse_unsigned(who)
    # A read makes no change to record, though values that a page computes may be stored.
    actor = None if request.method in SAFE_METHODS else _actor(who, subject)
    narrow_registry(registry.database.seen_by(projects_of(who, required.role), actor))


def may_send(url: str) -> bool:
    """Whether the user of this request may send a form to an address of the dashboard.

    Pages leave out forms that would be refused.
    """
    who, registry = signed_in_user().caller, current_registry()
    if who is None:
        return False
    if may(who, Role.ADMIN, None) and who.kind is not CallerKind.TOKEN:
        return True
    parts = urlsplit(url)
    adapter = current_app.create_url_adapter(request)
    assert adapter is not None  # noqa: S101 - there is a request
    path = parts.path.removeprefix(request.script_root)
    rule, values = adapter.match(path, method="POST", return_rule=True)
    lazy_views().load(rule.endpoint.rpartition(".")[0])
    required = requirement_of(current_app.view_functions[rule.endpoint], "POST")
    if who.kind is CallerKind.TOKEN and required.in_person:
        return False
    subject = ResourceProjects()
    if required.role is not None and not may(who, required.role, None):
        project = dict(parse_qsl(parts.query)).get("project") or None
        subject = resource_projects(
            registry.database, rule=rule.rule, parts=values, project=project
        )
    return _is_allowed(who, required, subject)


def _depends_on_resource(who: Caller, required: Requirement) -> bool:
    """Whether it matters which resource a request is about: it does for callers who may not access
    everything anyway, and for the log of changes."""
    sees_all = required.role is not None and may(who, required.role, None)
    return not sees_all or request.method not in SAFE_METHODS


def _resource(registry: Registry) -> ResourceProjects:
    rule = request.url_rule
    return resource_projects(
        registry.database,
        rule="" if rule is None else rule.rule,
        parts=request.view_args or {},
        project=request.args.get("project") or None,
    )


def _is_allowed(who: Caller, required: Requirement, subject: ResourceProjects) -> bool:
    """Whether a caller may have what they ask for. What does not exist is refused as well,
    to callers who may not know that, so that a refusal reveals nothing."""
    if required.role is None:
        return True
    if may(who, required.role, None):
        return True
    if required.everywhere or subject.is_registry:
        return False
    if subject.projects is None:
        return may_anywhere(who, required.role)
    return any(may(who, required.role, project) for project in subject.projects)


def _caller(registry: Registry) -> Caller | None:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if not scheme:
        return current_user.caller if isinstance(current_user, SignedIn) else None
    found = None
    if scheme.lower() == SCHEME.lower():
        found = after_failures(lambda: caller_of_token(registry.database, secret.strip()))
    if found is None:
        count_guess()
        raise NotSignedIn(
            "the token is not valid.",
            field="Authorization",
            hint="It may have expired or been revoked; offdiag token create makes another.",
        )
    return found


def _refuse_unsigned(who: Caller) -> None:
    """Require a CSRF token for API requests that are authenticated by a browser's cookie."""
    by_cookie = who.kind is CallerKind.USER and is_for_programs()
    if by_cookie and request.method not in SAFE_METHODS:
        try:
            validate_csrf(unmasked(request.headers.get("X-CSRFToken", "")))
        except ValidationError as error:
            raise ForbiddenResponse(
                "A session of a browser needs the header X-CSRFToken here; programs use tokens."
            ) from error


def _actor(who: Caller | None, subject: ResourceProjects) -> Actor:
    kind = "token" if who is not None and who.kind is CallerKind.TOKEN else "user"
    return Actor(
        kind=kind,
        name="" if who is None else who.name,
        action=request.endpoint or "",
        subject=request.path,
        project=subject.project,
        request_id=g.request_id,
    )


def acting_as(name: str) -> None:
    """Record `name` as the author for the rest of this request, for views that identify users."""
    registry = current_registry()
    actor = registry.database.actor
    if actor is not None:
        everything = registry.database.seen_by(None, replace(actor, name=name))
        narrow_registry(everything)


def forget_session() -> None:
    """Delete everything in the cookie, so that nothing of one session is carried into the next."""
    session.clear()


def clear_site_data(response: WsgiResponse) -> WsgiResponse:
    """Ask the browser to drop cached pages, in the response to signing out.

    Cookies are not included: that would delete those of other applications under the same domain.
    The session has ended on the server, whatever the browser does.
    """
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response


RATES_KEY = "offdiag rates"
GUESSES = "guessed-token"


class Rates:
    """The rate limits of an application. Counters are kept in its memory, or in shared storage.

    Raises `InvalidInput` if the storage of the settings cannot be used.
    """

    def __init__(self, settings: AccessSettings) -> None:
        try:
            storage = storage_from_string(settings.rate_storage)
        except ConfigurationError as error:
            kind, _, _ = settings.rate_storage.partition("://")  # The rest may contain a password.
            raise InvalidInput(
                f"{kind!r} is not storage that can be used here.",
                field="access.rate_storage",
                hint="Give memory://, or such as redis://HOST:6379 with its library installed.",
            ) from error
        self.window = MovingWindowRateLimiter(storage)
        self._limits = {
            Rate.READ: parse_many(settings.read_limit),
            Rate.WRITE: parse_many(settings.write_limit),
            Rate.API: parse_many(settings.api_limit),
            Rate.SIGN_IN: parse_many(settings.sign_in_limit),
        }
        self._by_name = parse_many(settings.sign_in_limit_by_name)

    def spend(self, rate: Rate, *whose: str) -> None:
        """Count one request. Raises `TooManyRequests` if that exceeds the limit."""
        for limit in self._limits.get(rate, ()):
            if not self.window.hit(limit, rate, *whose):
                raise self._refusal(limit, rate, *whose)

    def require_capacity(self, rate: str, *whose: str) -> None:
        """Raise `TooManyRequests` if no attempt is left, without counting one."""
        for limit in self._limits_of(rate):
            if not self.window.test(limit, rate, *whose):
                raise self._refusal(limit, rate, *whose)

    def note(self, rate: str, *whose: str) -> None:
        """Count a failed attempt."""
        for limit in self._limits_of(rate):
            self.window.hit(limit, rate, *whose)

    def _limits_of(self, rate: str) -> list[RateLimitItem]:
        return self._by_name if rate == "sign-in-name" else list(self._limits[Rate.SIGN_IN])

    def _refusal(self, limit: RateLimitItem, rate: str, *whose: str) -> TooManyRequests:
        ends = self.window.get_window_stats(limit, rate, *whose).reset_time
        wait_s = max(1, math.ceil(ends - time.time()))
        return TooManyRequests(
            f"that was more than {limit}.",
            retry_after_s=wait_s,
            hint=f"Try again in {wait_s} s.",
        )


def limit_rates(app: Flask, settings: AccessSettings, *, counts: bool) -> None:
    """Give an application its counters; without `counts` no request is ever refused."""
    app.extensions[RATES_KEY] = Rates(settings) if counts else None


def count_request(rate: Rate, who: Caller | None) -> None:
    """Count a request against its limit."""
    rates = _rates()
    if rates is not None and rate not in {Rate.FREE, Rate.SIGN_IN}:
        rates.spend(rate, _sender() if who is None else who.name)


def count_guess() -> None:
    """Count an invalid token against the address that sent it. Raises `TooManyRequests`.

    Valid tokens keep working from that address: they cannot be guessed, and many programs may
    share an address.
    """
    rates = _rates()
    if rates is not None:
        rates.require_capacity(GUESSES, _sender())
        rates.note(GUESSES, _sender())


def refuse_attempts(name: str) -> None:
    """Raise `TooManyRequests` if this address, or all addresses for this name, failed too often.

    One address can use up only some of the attempts that a name has, so no one can lock another
    user out from a single address.
    """
    rates = _rates()
    if rates is not None:
        rates.require_capacity("sign-in", _sender())
        rates.require_capacity("sign-in-name", name.casefold())


def count_attempt(name: str) -> None:
    """Count a failed sign-in."""
    rates = _rates()
    if rates is not None:
        rates.note("sign-in", _sender())
        rates.note("sign-in-name", name.casefold())


def _sender() -> str:
    return request.remote_addr or "127.0.0.1"


def _rates() -> Rates | None:
    found = current_app.extensions.get(RATES_KEY)
    return found if isinstance(found, Rates) else None
