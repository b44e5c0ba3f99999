"""Security headers and compression of every response, and protection from cross-site requests.

Each form that changes something carries a signed token, so no other site can send one. The token
is the second line of defence; the first is to refuse whatever a browser says comes from elsewhere.

A page that contains both a secret and text from its address would reveal the secret by its
compressed length (BREACH): a foreign site guesses in the address, and an eavesdropper counts
bytes. So responses to requests that a foreign site causes are not compressed, and each response
masks the tokens of forms differently.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import secrets
import socket
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as InvalidBase64
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, abort, g, request
from flask.sessions import SecureCookieSessionInterface
from flask_wtf.csrf import CSRFError, CSRFProtect, generate_csrf
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.wrappers import Response as BaseResponse

from offdiag.domain.sample_content import allowed_hosts
from offdiag.domain.sentences import visible
from offdiag.errors import Malformed
from offdiag.settings import ServerSettings
from offdiag_web.app.context import SAFE_METHODS
from offdiag_web.app.dispatch import is_for_programs
from offdiag_web.app.errors import outdated_form_response

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing inline, nothing from other hosts: a label that looks like a script stays a label."""


def content_security_policy(hosts: Iterable[str]) -> str:
    """The policy, with images and sound from the hosts that an admin allowed."""
    listed = " ".join(f"https://{host}" for host in sorted(hosts))
    if not listed:
        return CONTENT_SECURITY_POLICY
    with_images = CONTENT_SECURITY_POLICY.replace("data:;", f"data: {listed};")
    return f"{with_images}; media-src {listed}"


HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

TLS_FOR_A_YEAR = "max-age=31536000"
"""Browsers that connected by TLS once do not connect without it again."""

_NULL_ORIGIN = (
    "The browser does not say which page sent this form. An extension or a proxy may set "
    "Referrer-Policy: no-referrer; same-origin works."
)
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class SecureByTls(SecureCookieSessionInterface):
    """Sends the session cookie only by TLS if it was received by TLS."""

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 - Flask's signature
        return request.is_secure


def protect(app: Flask, settings: ServerSettings) -> None:
    """Install the checks and headers.

    Only as many proxies are trusted as the settings say.
    """
    bound_host, further = settings.host, named_hosts(settings)
    policy = content_security_policy(allowed_hosts(settings.content_hosts))
    headers = HEADERS | {"Content-Security-Policy": policy}
    app.session_interface = SecureByTls()
    if settings.trusted_proxies:
        n_proxies = settings.trusted_proxies
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]  # as Flask recommends
            app.wsgi_app, x_for=n_proxies, x_proto=n_proxies, x_host=n_proxies
        )

    @app.before_request
    def refuse_foreign_names() -> None:
        for host in (request.host, *_absolute_target(request.environ)):
            name = _host_name(host)
            if name not in further and not _is_our_name(name, bound_host):
                abort(400, f"This server does not accept the host name {host!r}.")

    @app.before_request
    def refuse_foreign_forms() -> None:
        if request.method not in SAFE_METHODS and not _comes_from_us():
            has_null_origin = request.headers.get("Origin") == "null"
            abort(
                403,
                _NULL_ORIGIN
                if has_null_origin
                else "This request was sent by a page of another site.",
            )

    @app.after_request
    def add_headers(response: Response) -> Response:
        for name, value in headers.items():
            response.headers.setdefault(name, value)
        if request.is_secure:
            response.headers.setdefault("Strict-Transport-Security", TLS_FOR_A_YEAR)
        return response


def named_hosts(settings: ServerSettings) -> frozenset[str]:
    """The additional host names that the server answers to."""
    names = (name.strip().lower() for name in settings.trusted_hosts.split(","))
    return frozenset(name for name in names if name)


def _absolute_target(environ: WSGIEnvironment) -> tuple[str, ...]:
    """The authority in a request line that has one ("GET http://host/path").

    Servers pass on the header Host as well, although the request line takes precedence (RFC 9112,
    3.2.2).
    """
    target = str(environ.get("RAW_URI") or environ.get("REQUEST_URI") or "")
    _, scheme_ends, rest = target.partition("://")
    if target.startswith("/") or not scheme_ends:
        return ()
    return (re.split(r"[/?#]", rest, maxsplit=1)[0],)


def _host_name(host: str) -> str:
    """Name or address without port and brackets, "" if it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_our_name(name: str, bound_host: str) -> bool:
    """Whether a request may address the server by this name.

    A page of another site can make its own name point here and then read responses as if they were
    its own (DNS rebinding). It cannot do so with an address, so a server that listens on all
    interfaces accepts any address in addition to its own name.
    """
    if name in _LOOPBACK_NAMES or name == bound_host.lower():
        return True
    return bound_host in {"0.0.0.0", "::", ""} and (  # noqa: S104 - compared, not bound
        _is_address(name) or name == socket.gethostname().lower()
    )


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _comes_from_us() -> bool:
    """Whether a form comes from our own pages, according to the browser.

    Programs that send no such header carry no cookies.
    """
    site = request.headers.get("Sec-Fetch-Site", "none")
    if site != "none":
        # No page can set this header, whereas the origin is "null" if referrers are off.
        return site == "same-origin"
    origin = request.headers.get("Origin")
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.netloc == request.host and (parts.scheme == "https" or not request.is_secure)


def protect_forms(app: Flask, *, key: str, exempt: Iterable[Blueprint]) -> None:
    """Require a token with every posted form, except for the blueprints in `exempt`.

    `key` signs the tokens. The cookie is set only if a page contains a form that needs it. Its
    name depends on the key: browsers send cookies to all ports of a machine, so two registries
    there would otherwise invalidate each other's forms. It is sent when a link in a message is
    followed, so that users stay signed in, but never with a form of another site.
    """
    digest = hashlib.sha256(key.encode()).hexdigest()
    app.config.update(
        SECRET_KEY=key,
        SESSION_COOKIE_NAME=f"offdiag-form-{digest[:8]}",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_SSL_STRICT=False,  # Some browsers send no referrer, and `protect` checks origins.
    )
    tokens = MaskedTokens(app)
    for blueprint in exempt:
        tokens.exempt(blueprint)

    @app.errorhandler(CSRFError)
    def respond_to_invalid_token(_error: CSRFError) -> BaseResponse:
        return outdated_form_response()


def refuse_nul() -> None:
    """Raise `Malformed` for an API address with a NUL character, which PostgreSQL cannot store."""
    if is_for_programs() and (
        "\0" in request.path
        or any("\0" in name + value for name, value in request.args.items(multi=True))
    ):
        raise Malformed(
            "the address has a NUL character.",
            field="path",
            hint="Databases cannot store it; remove it.",
        )


_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_KEPT_OR_TEXT = re.compile(r"<(option|script|style|textarea)\b.*?</\1>|>[^<]+", re.DOTALL)
"""What a form sends or a browser runs is kept as it is; other text is only read."""


def show_direction_marks(response: Response) -> Response:
    """Escape characters that reverse text in pages, so that no name can look like another."""
    is_file = response.is_streamed or "Content-Disposition" in response.headers
    if response.mimetype != "text/html" or is_file:
        return response
    page = response.get_data(as_text=True)
    if _DIRECTION_MARKS.search(page):
        response.set_data(
            _KEPT_OR_TEXT.sub(
                lambda part: (
                    part[0]
                    if part[1]
                    else _DIRECTION_MARKS.sub(lambda mark: visible(mark[0]), part[0])
                ),
                page,
            )
        )
    return response


FEWEST_BYTES = 1_000
_LEVEL = 5
_TEXTS = frozenset(
    {
        *("text/html", "text/css", "text/csv", "text/javascript", "text/markdown"),
        *("text/plain", "application/json", "image/svg+xml"),
    }
)
_OURS = frozenset({"same-origin", "none"})


def compress_responses(app: Flask) -> None:
    """Compress text responses for browsers that support it, when our own pages request them."""

    @app.after_request
    def compress(response: Response) -> Response:
        if not _should_compress(response):
            return response
        response.vary.update(("Accept-Encoding", "Sec-Fetch-Site"))
        from_ours = request.headers.get("Sec-Fetch-Site", "none") in _OURS
        if from_ours and request.accept_encodings.quality("gzip") > 0:
            content = gzip.compress(response.get_data(), _LEVEL, mtime=0)
            response.set_data(content)
            response.content_encoding = "gzip"
        return response


def _should_compress(response: Response) -> bool:
    return (
        request.method == "GET"
        and response.status_code == 200
        and response.mimetype in _TEXTS
        and not response.is_streamed
        and not response.direct_passthrough
        and "Content-Encoding" not in response.headers
        # A response with a digest is sent byte for byte.
        and response.get_etag()[0] is None
        and (response.content_length or 0) >= FEWEST_BYTES
    )


class MaskedTokens(CSRFProtect):  # type: ignore[misc]  # the library ships no types
    """CSRF tokens that look different in every response."""

    def init_app(self, app: Flask) -> None:
        super().init_app(app)

        # After those of the library, whose token would be the same in every response; macros see
        # only the first.
        app.jinja_env.globals["csrf_token"] = _token_of_response

        @app.context_processor
        def masked_token() -> dict[str, Callable[[], str]]:
            return {"csrf_token": _token_of_response}

    def _get_csrf_token(self) -> str | None:
        sent = super()._get_csrf_token()
        return None if sent is None else unmasked(sent)


def _token_of_response() -> str:
    """A token with one mask for all forms of a page, because long lists have many forms."""
    if "masked_token" not in g:
        g.masked_token = masked(generate_csrf())
    return cast(str, g.masked_token)


def masked(token: str) -> str:
    """A token masked with random bytes, which precede it."""
    plain = token.encode()
    mask = secrets.token_bytes(len(plain))
    return urlsafe_b64encode(mask + _xor(mask, plain)).decode()


def unmasked(text: str) -> str:
    """The token without its mask; "" if the text is not a masked token."""
    try:
        both = urlsafe_b64decode(text.encode())
        half = len(both) // 2
        return _xor(both[:half], both[half:]).decode()
    except (InvalidBase64, UnicodeError, ValueError):
        return ""


def _xor(mask: bytes, plain: bytes) -> bytes:
    """Combine two byte strings of equal length; raises `ValueError` otherwise."""
    return bytes(a ^ b for a, b in zip(mask, plain, strict=True))
