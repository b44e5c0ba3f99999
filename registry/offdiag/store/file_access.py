"""What must hold of an SQLite file before it is opened, said before something fails halfway."""

from __future__ import annotations

import os
import re
from pathlib import Path

from offdiag.errors import DatabaseUnavailable

_MOUNTS = Path("/proc/self/mounts")

# Readers and writers of one file share memory, which does not reach across machines.
_NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "gpfs", "beegfs"}
    | {"fuse.sshfs", "fuse.ceph", "fuse.glusterfs", "fuse.s3fs"}
)


def require_writable(path: Path) -> None:
    """Raise `DatabaseUnavailable` unless this user may write the file, if any, and its folder."""
    for place in (path, path.parent):
        if place.exists() and not os.access(place, os.W_OK):
            raise DatabaseUnavailable(
                f"{path}: {place} cannot be written by this user.",
                hint="Give it write permission on the file and its folder, name another "
                "place, or open it for reading with sqlite:///file:…?mode=ro&uri=true.",
            )


def require_local(path: Path) -> None:
    """Raise `DatabaseUnavailable` for a file on a network share, where this can be told."""
    if not _MOUNTS.exists():
        return
    kind = file_system_of(path.resolve(), _MOUNTS.read_text(errors="replace"))
    if kind in _NETWORK_FILE_SYSTEMS:
        raise DatabaseUnavailable(
            f"{path}: this is a network share ({kind}), on which SQLite loses data.",
            hint="Name a file on a local disk, or use PostgreSQL for several machines.",
        )


def file_system_of(path: Path, mounts: str) -> str | None:
    """Type of the file system that holds an absolute path, by the lines of /proc/mounts."""
    kind, depth = None, 0
    for line in mounts.splitlines():
        _device, point, mounted, *_ = line.split(" ")
        folder = Path(_unescaped(point))
        # A later line hides an earlier one on the same folder.
        if path.is_relative_to(folder) and len(folder.parts) >= depth:
            kind, depth = mounted, len(folder.parts)
    return kind


def _unescaped(point: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point)
