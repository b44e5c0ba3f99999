"""Program: deliver an issue to a folder, and hang when the first file is written, unfinished."""

from __future__ import annotations

import os
import sys

from offdiag.services.delivery.folder import deliver_to_folder
from offdiag.settings import ReportsSettings
from support.messages import parcel
from support.processes import say


def main(root: str) -> None:
    def hang(fd: object) -> None:
        say("written")
        sys.stdin.readline()

    os.fsync = hang
    deliver_to_folder(parcel(), "weekly", ReportsSettings(folder=root))


if __name__ == "__main__":
    main(*sys.argv[1:])
