"""Delivery to a folder: whole files or none, the same ones however often it is repeated."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from offdiag.services.delivery.message import DeliveryFailed, DeliveryMessage, DeliveryRefused
from offdiag.settings import ReportsSettings

_FOLDER_MODE = 0o755
_FILE_MODE = 0o644
_UNFINISHED = re.compile(r"\.(?P<file>.+-\d{4,}\.(?:html|md|json|csv))\.[^.]+\.part")
_ABANDONED_AFTER_S = 3_600.0


def deliver_to_folder(parcel: DeliveryMessage, folder: str, settings: ReportsSettings) -> None:
    """Write the files of an issue below the folder of reports.

    Raises `DeliveryRefused` where a link leads out of it, and `DeliveryFailed` for a full
    disk and everything else that keeps files from being written.
    """
    try:
        place = place_of(folder, settings)
        place.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        files = {parcel.file_name(file.kind): file.content for file in parcel.files}
        _remove_abandoned(place, files.keys())
        for name, content in files.items():
            _write_whole(place / name, content)
    except OSError as error:
        raise DeliveryFailed(f"{error.filename or folder}: {error.strerror or error}.") from error


def place_of(folder: str, settings: ReportsSettings) -> Path:
    """The folder that a target names. Raises `DeliveryRefused` where a link leads out of the
    folder of reports."""
    root = Path(settings.folder).expanduser().absolute()
    place = root / folder
    if not place.resolve().is_relative_to(root.resolve()):
        raise DeliveryRefused(
            f"{str(place)!r} leads out of {str(root)!r}. Remove the link, or change "
            "reports.folder."
        )
    return place


def require_writable(place: Path) -> None:
    """Raise `DeliveryFailed` where this user can neither write a folder nor make it."""
    existing = next(parent for parent in (place, *place.parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise DeliveryFailed(f"{existing}: this user cannot write there.")


def _remove_abandoned(place: Path, own: Collection[str]) -> None:
    """Remove what deliveries left unfinished that were killed while they wrote.

    Of the files that are about to be written nobody else has a claim: they are worked on by
    one worker at a time, with the same bytes. Those of other issues get an hour, for their
    own worker may be writing them.
    """
    before = time.time() - _ABANDONED_AFTER_S
    for path in place.glob(".*.part"):
        found = _UNFINISHED.fullmatch(path.name)
        with suppress(FileNotFoundError):
            if found and (found["file"] in own or path.lstat().st_mtime < before):
                path.unlink()


def _write_whole(path: Path, content: bytes) -> None:
    """Nobody ever sees half a file: it gets its name when it is complete and on the disk."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(_FILE_MODE)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """A new name survives a power failure only once its folder is on the disk too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
