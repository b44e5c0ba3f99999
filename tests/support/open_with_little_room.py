"""Program: open a database while files may not grow beyond a number of bytes."""

from __future__ import annotations

import json
import resource
import sys

from offdiag.errors import OffdiagError
from offdiag.store.schema import open_database
from support.processes import say


def main(url: str, limit: str) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    try:
        open_database(url).close()
    except OffdiagError as error:
        say(json.dumps(error.to_dict()))
    else:
        say(json.dumps(None))


if __name__ == "__main__":
    main(*sys.argv[1:])
