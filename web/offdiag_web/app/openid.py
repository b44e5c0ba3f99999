"""Sign-in by an identity provider with OpenID Connect: a code with state, nonce and PKCE."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Flask
from werkzeug.wrappers import Response

from offdiag.errors import InvalidInput, NotSignedIn
from offdiag.services.access.openid import ExternalUser, read_roles
from offdiag.settings import OidcSettings

# authlib and its dependencies come with an extra; import them only if a provider is configured.
KEY = "offdiag openid"
TIMEOUT_S = 5
_DISCOVERY = "/.well-known/openid-configuration"


def register_provider(app: Flask, settings: OidcSettings) -> None:
    """Register the identity provider of the settings, if there is one."""
    if settings.issuer:
        read_roles(settings.roles)
        app.extensions[KEY] = Provider(app, settings)


class Provider:
    """The identity provider of an application."""

    def __init__(self, app: Flask, settings: OidcSettings) -> None:
        from authlib.integrations.flask_client import OAuth

        self._settings = settings
        self._client = OAuth(app).register(
            "openid",
            server_metadata_url=settings.issuer.rstrip("/") + _DISCOVERY,
            client_id=settings.client_id,
            client_secret=_secret(settings) or None,
            client_kwargs={
                "scope": settings.scope,
                "code_challenge_method": "S256",
                "default_timeout": TIMEOUT_S,
                "token_endpoint_auth_method": "client_secret_basic"
                if _secret(settings)
                else "none",
            },
        )

    def redirect_to_provider(self, back: str) -> Response:
        """Redirect to the provider, which redirects back to one of our addresses."""
        from authlib.integrations.base_client.errors import OAuthError
        from requests import RequestException

        try:
            answer: Response = self._client.authorize_redirect(back)
        except (OAuthError, RequestException, RuntimeError) as error:
            raise _unavailable() from error
        return answer

    def returned_user(self) -> ExternalUser:
        """The user that the provider returned. Raises `NotSignedIn`."""
        from authlib.integrations.base_client.errors import OAuthError
        from joserfc.errors import JoseError
        from requests import RequestException

        try:
            claims = self._client.authorize_access_token().get("userinfo")
        except RequestException as error:
            raise _unavailable() from error
        except (OAuthError, JoseError, RuntimeError, ValueError) as error:
            raise NotSignedIn(
                "the response of the identity provider is not valid, or too old.",
                field="openid",
                hint="Sign in once more.",
            ) from error
        if not claims or str(claims.get("iss")).rstrip("/") != self._settings.issuer.rstrip("/"):
            raise NotSignedIn(
                "the provider does not say who you are.", field="openid", hint="Ask an admin."
            )
        return self._read(claims)

    def _read(self, claims: Mapping[str, Any]) -> ExternalUser:
        name = claims.get(self._settings.name_claim)
        if not isinstance(name, str) or not name:
            raise NotSignedIn(
                f"the identity provider sends no {self._settings.name_claim!r} of you.",
                field="openid",
                hint="An admin sets oidc.name_claim to one that it sends.",
            )
        groups = claims.get(self._settings.groups_claim, ())
        return ExternalUser(
            name=name,
            groups=frozenset(map(str, groups)) if isinstance(groups, list) else frozenset(),
            display_name=_text(claims.get("name")),
            email=_text(claims.get("email")) if claims.get("email_verified") is True else None,
        )


def _secret(settings: OidcSettings) -> str:
    if settings.client_secret or not settings.client_secret_file:
        return settings.client_secret
    try:
        return Path(settings.client_secret_file).expanduser().read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InvalidInput(
            f"{settings.client_secret_file!r} cannot be read: {error.strerror or error}.",
            field="oidc.client_secret_file",
            hint="Correct the path, or let this user read the file.",
        ) from error


def _text(value: object) -> str | None:
    return value[:200] if isinstance(value, str) and value.strip() else None


def _unavailable() -> NotSignedIn:
    return NotSignedIn(
        "the identity provider does not respond.",
        field="openid",
        hint="Try again, or sign in with a password.",
    )
