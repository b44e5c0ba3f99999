"""Program: open a database, and tell which top-level modules that loaded."""

from __future__ import annotations

import json
import sys

from offdiag.store.schema import open_database
from support.processes import say


def main(url: str) -> None:
    open_database(url).close()
    say(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))


if __name__ == "__main__":
    main(*sys.argv[1:])
