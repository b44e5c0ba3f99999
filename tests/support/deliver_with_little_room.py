"""Program: deliver an issue to a folder while files may not grow beyond a number of bytes."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from offdiag.services.delivery.folder import deliver_to_folder
from offdiag.services.delivery.message import DeliveryFailed
from offdiag.settings import ReportsSettings
from offdiag.store.reports import stored_file
from support.messages import parcel
from support.processes import say


def main(root: str, limit: str) -> None:
    large = stored_file(b"x" * 100_000, kind="html", content_type="text/html")
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    error = None
    try:
        deliver_to_folder(parcel(files=(large,)), "weekly", ReportsSettings(folder=root))
    except DeliveryFailed as failure:
        error = str(failure)
    left = sorted(path.name for path in (Path(root) / "weekly").iterdir())
    say(json.dumps({"error": error, "left": left}))


if __name__ == "__main__":
    main(*sys.argv[1:])
