"""Signing what is posted, so that a receiver can tell who sent it and when."""

from __future__ import annotations

import hashlib
import hmac


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """`v1=` and the HMAC-SHA256 of "timestamp.body" under the secret, in hexadecimal.

    The timestamp is signed with the body: a receiver that refuses old ones cannot be sent a
    recorded post again.
    """
    signed = f"{timestamp}.".encode() + body
    return f"v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"
