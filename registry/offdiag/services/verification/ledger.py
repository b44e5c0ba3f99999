"""A ledger of what was acknowledged, kept outside the registry, to compare with it.

Whoever logs runs appends a line to it after each call that succeeded: the client key, a blank,
and the content digest of the run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from offdiag.errors import InvalidInput
from offdiag.services.verification.findings import Finding, FindingKind
from offdiag.store import runs
from offdiag.store.session import Session

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A run that somebody was told is stored."""

    client_key: str
    digest: str


def read_ledger(path: Path) -> list[LedgerEntry]:
    """The entries of a ledger; empty lines are skipped.

    Raises `InvalidInput` naming the first line that is none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be read: {error}.", field="ledger", hint="Check the path."
        ) from None
    entries = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        parts = line.strip().rsplit(maxsplit=1)
        if len(parts) != 2 or not _DIGEST.fullmatch(parts[1]):
            raise InvalidInput(
                f"line {number} of {path.name} is no entry.",
                field="ledger",
                hint="An entry is a client key, a blank and 64 hexadecimal digits.",
            )
        entries.append(LedgerEntry(*parts))
    return entries


def missing_from(session: Session, entries: list[LedgerEntry]) -> list[Finding]:
    """The entries that the registry does not hold as they were acknowledged."""
    stored = runs.content_by_client_key(session, [entry.client_key for entry in entries])
    findings = []
    for entry in entries:
        digests = stored.get(entry.client_key, ())
        if not digests:
            sentence = "it was acknowledged and is not there."
        elif entry.digest not in digests:
            sentence = "it holds other content than was acknowledged."
        else:
            continue
        findings.append(Finding(FindingKind.LOST, f"client key {entry.client_key}", sentence))
    return findings
