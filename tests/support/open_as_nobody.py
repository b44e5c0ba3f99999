"""Program: open a database as a user without rights, and tell what came of it.

The superuser may write everything, so as the superuser it first becomes somebody else.
"""

from __future__ import annotations

import json
import os
import sys

from offdiag.errors import OffdiagError
from offdiag.store.schema import open_database
from support.processes import say

NOBODY = 65534


def main(url: str) -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        open_database(url).close()
    except OffdiagError as error:
        say(json.dumps(error.to_dict()))
    else:
        say(json.dumps(None))


if __name__ == "__main__":
    main(*sys.argv[1:])
