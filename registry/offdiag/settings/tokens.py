"""Tokens that `offdiag login` stored, one for each server, in the folder of the user."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from offdiag.errors import InvalidInput


def tokens_file() -> Path:
    """The file of tokens: below XDG_CONFIG_HOME, or where the system keeps settings."""
    home = Path.home()
    if sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return folder / "offdiag" / "tokens.json"


def stored_token(url: str) -> str:
    """The token of a server, empty if none is stored. Raises `InvalidInput` for a damaged file."""
    return _stored().get(_key(url), "")


def store_token(url: str, token: str) -> Path:
    """Store the token of a server where only the user can read it; returns the file."""
    return _write({**_stored(), _key(url): token})


def remove_token(url: str) -> bool:
    """Remove the token of a server; False if there is none."""
    tokens = _stored()
    if tokens.pop(_key(url), None) is None:
        return False
    _write(tokens)
    return True


def _key(url: str) -> str:
    return url.rstrip("/")


def _stored() -> dict[str, str]:
    file = tokens_file()
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise _damaged(file, str(error)) from None
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise _damaged(file, "it is not an object of texts")
    return found


def _damaged(file: Path, why: str) -> InvalidInput:
    return InvalidInput(
        f"the stored tokens in {file} cannot be read ({why}).",
        field="token",
        hint="Remove the file and run offdiag login again, or set OFFDIAG_TOKEN.",
    )


def _write(tokens: Mapping[str, str]) -> Path:
    file = tokens_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(dict(sorted(tokens.items())), stream, indent=2)
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
    return file
