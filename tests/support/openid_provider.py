"""A provider of OpenID Connect on loopback: discovery, codes, tokens and a real RS256 key."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Response, jsonify, redirect, request
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server
from werkzeug.wrappers import Response as BaseResponse

from support.listeners import running


@dataclass
class OpenIdProvider:
    """Says `claims` of whoever is led to it. `lies` replaces parts of what it signs."""

    client_id: str = "offdiag"
    client_secret: str = "only the two of us know it"
    claims: dict[str, Any] = field(default_factory=dict)
    lies: dict[str, Any] = field(default_factory=dict)
    issuer: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "first"}))
    signing_key: RSAKey | None = None
    asked: dict[str, dict[str, str]] = field(default_factory=dict)

    def app(self) -> Flask:
        app = Flask("provider")

        @app.get("/.well-known/openid-configuration")
        def discover() -> Response:
            return jsonify(
                issuer=self.issuer,
                authorization_endpoint=f"{self.issuer}/authorize",
                token_endpoint=f"{self.issuer}/token",
                jwks_uri=f"{self.issuer}/keys",
                id_token_signing_alg_values_supported=["RS256"],
            )

        @app.get("/keys")
        def keys() -> Response:
            return jsonify(keys=[self.key.as_dict(private=False)])

        @app.get("/authorize")
        def authorize() -> BaseResponse:
            code = secrets.token_urlsafe(8)
            self.asked[code] = request.args.to_dict()
            back = urlencode({"code": code, "state": request.args["state"]})
            return redirect(f"{request.args['redirect_uri']}?{back}")

        @app.post("/token")
        def token() -> Response | tuple[Response, int]:
            asked = self.asked.pop(request.form.get("code", ""), None)
            if asked is None or not self._is_the_same(asked):
                return jsonify(error="invalid_grant"), 400
            return jsonify(
                access_token="not used", token_type="Bearer", id_token=self._id_token(asked)
            )

        return app

    def _is_the_same(self, asked: dict[str, str]) -> bool:
        """The client that asked for the code, and the browser it was asked for."""
        known = (self.client_id, self.client_secret)
        given = request.authorization
        verifier = request.form.get("code_verifier", "")
        digest = hashlib.sha256(verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        return (
            given is not None
            and (given.username, given.password) == known
            and asked.get("code_challenge_method") == "S256"
            and asked["code_challenge"] == challenge
        )

    def _id_token(self, asked: dict[str, str]) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": self.client_id,
            "sub": "1",
            "iat": now,
            "exp": now + 60,
            "nonce": asked["nonce"],
            **self.claims,
            **self.lies,
        }
        key = self.signing_key or self.key
        return jwt.encode({"alg": "RS256", "kid": "first"}, claims, key)


@contextmanager
def running_provider() -> Iterator[OpenIdProvider]:
    """A provider that answers on a free port."""
    provider = OpenIdProvider()
    server = make_server("127.0.0.1", 0, provider.app(), threaded=True)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    with running(server):
        yield provider
