"""Program: say the key that signs forms, once told to go on."""

from __future__ import annotations

import json
import sys

from offdiag.settings import ServerSettings
from offdiag.store.database import Database
from offdiag_web.signing_key import signing_key
from support.processes import say


def main(url: str) -> None:
    database = Database(url)
    say("ready")
    sys.stdin.readline()
    say(json.dumps(signing_key(ServerSettings(), database)))


if __name__ == "__main__":
    main(*sys.argv[1:])
