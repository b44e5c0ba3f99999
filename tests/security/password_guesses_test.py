"""Guessing costs the same whatever is guessed, and what is stored opens nothing."""

from __future__ import annotations

import base64
import hashlib
import hmac
import inspect
import secrets

import pytest

from offdiag.domain.access import Grant, Role
from offdiag.errors import NotSignedIn
from offdiag.services.access import sessions, users
from offdiag.services.access.sessions import caller_of_token, sign_in
from offdiag.store.database import Database
from offdiag.store.sessions import list_tokens
from support.access import LIFE, add_person, token_of


def test_an_unknown_name_takes_the_same_work_as_a_wrong_password(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_person(sqlite_database, "ana", Grant(Role.VIEWER))
    work = []

    class Noting:
        def verify(self, stored: str, password: str) -> bool:
            work.append(stored.rpartition("$")[0].rpartition("$")[0])
            return hasher.verify(stored, password)

        def __getattr__(self, name: str) -> object:
            return getattr(hasher, name)

    hasher = users._HASHER
    monkeypatch.setattr(users, "_HASHER", Noting())

    for name in ("ana", "nobody", "no\0body", "x" * 10_000):
        with pytest.raises(NotSignedIn) as refused:
            sign_in(sqlite_database, name=name, password="a wrong password", life=LIFE)
        assert "name and password" in refused.value.message

    # The parameters of the hash stand before salt and digest: so many passes, so much memory.
    assert len(work) == 4
    assert len(set(work)) == 1


def test_a_token_is_256_random_bits_of_which_a_digest_is_kept(sqlite_database: Database) -> None:
    add_person(sqlite_database, "ana", Grant(Role.VIEWER))
    made = [token_of(sqlite_database, "ana", Role.VIEWER) for _ in range(3)]

    with sqlite_database.read() as session:
        kept = list_tokens(session)

    assert len(set(made)) == 3
    for secret in made:
        random = secret.removeprefix("offdiag_")
        assert len(base64.urlsafe_b64decode(random + "=" * (-len(random) % 4))) == 32
        assert hashlib.sha256(secret.encode()).hexdigest() in {record.digest for record in kept}
        assert not any(secret in repr(record) for record in kept)


def test_what_the_database_holds_opens_nothing(sqlite_database: Database) -> None:
    add_person(sqlite_database, "ana", Grant(Role.VIEWER))
    secret = token_of(sqlite_database, "ana", Role.VIEWER)
    with sqlite_database.read() as session:
        (kept,) = list_tokens(session)

    assert caller_of_token(sqlite_database, secret) is not None
    guesses = [kept.digest, kept.prefix, f"offdiag_{kept.digest}", secret[:-1], f"{secret}x"]
    for guess in (*guesses, secret.swapcase(), f" {secret}", "", "x" * 100_000, "\ud800", "a\0b"):
        assert caller_of_token(sqlite_database, guess) is None


def test_secrets_are_compared_by_digest_in_constant_time(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is asked for a digest, which whoever guesses cannot choose bit by bit."""
    add_person(sqlite_database, "ana", Grant(Role.VIEWER))
    secret = token_of(sqlite_database, "ana", Role.VIEWER)
    compared = []

    def noting(one: str, other: str) -> bool:
        compared.append((one, other))
        return secrets.compare_digest(one, other)

    monkeypatch.setattr(hmac, "compare_digest", noting)

    caller_of_token(sqlite_database, secret)

    digest = hashlib.sha256(secret.encode()).hexdigest()
    assert compared == [(digest, digest)]


def test_no_secret_is_made_of_anything_but_the_system_s_randomness() -> None:
    source = inspect.getsource(sessions)

    assert source.count("secrets.token_urlsafe(") == 2  # Sessions of browsers, and tokens.
    assert "import random" not in source
