"""The door: every request is recognised, held against what its view needs, and narrowed.

A request that is let in finds a registry in which there is only what its sender may have, and
whose changes say who made them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from flask import Flask, Response, current_app, g, request, session
from flask_login import LoginManager, UserMixin, current_user
from flask_wtf.csrf import ValidationError, validate_csrf
from werkzeug.exceptions import Forbidden as ForbiddenAnswer
from werkzeug.wrappers import Response as WsgiResponse

from offdiag.domain.access import (
    EVERYTHING,
    Actor,
    Principal,
    PrincipalKind,
    may,
    may_anywhere,
    projects_of,
)
from offdiag.errors import Forbidden, NotSignedIn
from offdiag.services.access.sessions import SessionLife, principal_of_session, principal_of_token
from offdiag.settings import AccessSettings
from offdiag.settings.model import needs_sign_in
from offdiag.store.failures import after_failures
from offdiag_web.app import limits, openid
from offdiag_web.app.context import Reader, Registry, current_registry, narrow_registry, reader
from offdiag_web.app.paths import PREFIX
from offdiag_web.app.permissions import LOOKING, Needs, Subject, needs_of, rate_of, subject_of
from offdiag_web.app.preferences import reader_if_known

SCHEME = "Bearer"
ASSETS_ENDPOINT = "assets.serve"
LOCAL_NAME = "local"


@dataclass(slots=True)
class SignedIn(UserMixin):  # type: ignore[misc]  # the library ships no types
    """What the cookie of a browser names: a session, by its secret."""

    secret: str
    principal: Principal

    def get_id(self) -> str:
        return self.secret


def guard(app: Flask, registry: Registry) -> None:
    """Let nobody into `app` but as the settings and the views say."""
    asks = needs_sign_in(registry.settings)
    life = session_life(registry.settings.access)
    limits.limit(app, registry.settings.access, counts=asks)
    openid.vouch(app, registry.settings.oidc)
    sessions = LoginManager()
    # A session is worth what its row says, wherever its owner moves.
    sessions.session_protection = None
    # Not by `init_app`, which looks for a second cookie of its own after every request and so
    # makes every answer, those of pictures and scripts too, depend on cookies.
    app.login_manager = sessions  # type: ignore[attr-defined]  # where the library looks

    @sessions.user_loader  # type: ignore[untyped-decorator]
    def load(secret: str) -> SignedIn | None:
        principal = after_failures(lambda: principal_of_session(registry.database, secret, life))
        return None if principal is None else SignedIn(secret, principal)

    @app.before_request
    def let_in() -> None:
        wanted = _needs()
        if not asks:
            g.reader = Reader(Principal(PrincipalKind.LOCAL, _local_name(), EVERYTHING))
        elif wanted.role is None:
            g.reader = Reader(None)
        else:
            g.reader = Reader(_recognised(registry))
        _let_in(wanted, registry)

    @app.after_request
    def keep_out_of_caches(response: Response) -> Response:
        # After signing out, the back button would show what a cache has kept. Assets say nothing
        # of a registry and are the same for everybody.
        if asks and request.endpoint != ASSETS_ENDPOINT:
            response.headers["Cache-Control"] = "no-store"
        return response

    @app.context_processor
    def tell_templates() -> dict[str, Reader | bool]:
        return {"reader": reader(), "has_provider": openid.KEY in app.extensions}


def session_life(settings: AccessSettings) -> SessionLife:
    """How long sessions last by the settings."""
    return SessionLife(
        idle=timedelta(hours=settings.session_idle_hours),
        longest=timedelta(days=settings.session_days),
    )


def _needs() -> Needs:
    # An address that leads nowhere tells only those who may look around.
    view = current_app.view_functions.get(request.endpoint or "")
    return needs_of(view or (lambda: None), request.method)


def _let_in(wanted: Needs, registry: Registry) -> None:
    who = reader().principal
    limits.count(rate_of(wanted, request.method, is_api=is_for_programs()), who)
    if wanted.role is None:
        narrow_registry(registry.database.seen_by(frozenset(), _actor(who, Subject())))
        return
    if who is None:
        raise NotSignedIn(
            "you have to sign in first.",
            field="Authorization" if is_for_programs() else None,
            hint=f"Send the header Authorization: {SCHEME} with a token."
            if is_for_programs()
            else "Use your name and password.",
        )
    if wanted.in_person and who.kind is PrincipalKind.TOKEN:
        raise Forbidden(
            "a token may not do this.", hint="Sign in to the dashboard, or use the command line."
        )
    subject = _subject(registry) if _asks_for_subject(who, wanted) else Subject()
    if not _is_allowed(who, wanted, subject):
        raise Forbidden(
            f"this needs the role {wanted.role.value}"
            f"{' in all projects' if wanted.everywhere or subject.is_registry else ' there'}.",
            hint="Ask an admin for it; /settings/account shows your roles.",
        )
    _refuse_unsigned(who)
    narrow_registry(registry.database.seen_by(projects_of(who, wanted.role), _actor(who, subject)))


def _asks_for_subject(who: Principal, wanted: Needs) -> bool:
    """Whether it matters what a request is about: to whoever may not have everything anyway, and
    to the log of what is changed."""
    sees_all = wanted.role is not None and may(who, wanted.role, None)
    return not sees_all or request.method not in LOOKING


def _subject(registry: Registry) -> Subject:
    rule = request.url_rule
    return subject_of(
        registry.database,
        rule="" if rule is None else rule.rule,
        parts=request.view_args or {},
        project=request.args.get("project") or None,
    )


def _is_allowed(who: Principal, wanted: Needs, subject: Subject) -> bool:
    """Whether somebody may have what they ask for. What does not exist is refused to whoever
    would not be told either way, so that a refusal says nothing about what there is."""
    if wanted.role is None:
        return True
    if may(who, wanted.role, None):
        return True
    if wanted.everywhere or subject.is_registry:
        return False
    if subject.projects is None:
        return may_anywhere(who, wanted.role)
    return any(may(who, wanted.role, project) for project in subject.projects)


def _recognised(registry: Registry) -> Principal | None:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if not scheme:
        return current_user.principal if isinstance(current_user, SignedIn) else None
    found = None
    if scheme.lower() == SCHEME.lower():
        found = after_failures(lambda: principal_of_token(registry.database, secret.strip()))
    if found is None:
        limits.count_guess()
        raise NotSignedIn(
            "the token is not valid.",
            field="Authorization",
            hint="It may have expired or been revoked; offdiag token create makes another.",
        )
    return found


def _refuse_unsigned(who: Principal) -> None:
    """What a browser's cookies send to the interface for programs needs the token of a form."""
    by_cookie = who.kind is PrincipalKind.USER and is_for_programs()
    if by_cookie and request.method not in LOOKING:
        try:
            validate_csrf(request.headers.get("X-CSRFToken"))
        except ValidationError as error:
            raise ForbiddenAnswer(
                "A session of a browser needs the header X-CSRFToken here; programs use tokens."
            ) from error


def _actor(who: Principal | None, subject: Subject) -> Actor:
    kind = "token" if who is not None and who.kind is PrincipalKind.TOKEN else "user"
    return Actor(
        kind=kind,
        name="" if who is None else who.name,
        action=request.endpoint or "",
        subject=request.path,
        project=subject.project,
        request_id=g.request_id,
    )


def acting_as(name: str) -> None:
    """Say who the rest of this request is answerable to, for views that find out themselves."""
    registry = current_registry()
    actor = registry.database.actor
    if actor is not None:
        everything = registry.database.seen_by(None, replace(actor, name=name))
        narrow_registry(everything)


def is_for_programs() -> bool:
    """Whether the request is one to the interface for programs."""
    return request.path.startswith(f"{PREFIX}/")


def _local_name() -> str:
    return reader_if_known() or LOCAL_NAME


def forget_session() -> None:
    """Drop everything the cookie holds, so that nothing of one session lives on in the next."""
    session.clear()


def clear_site_data(response: WsgiResponse) -> WsgiResponse:
    """Ask the browser to drop the pages it has kept, in a response to signing out.

    Cookies are not named: that would delete those of other applications under the same domain.
    The session has ended on the server, whatever the browser does.
    """
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response
