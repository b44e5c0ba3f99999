"""The command line `offdiag`: a folder for each section of its help, a module for each noun."""

import sys


def main() -> None:
    """Entry point of the console script.

    The commands are imported here, so that Ctrl-C ends them without a traceback from the start.
    """
    try:
        from offdiag.cli.commands import main as run_commands

        run_commands()
    except KeyboardInterrupt:
        sys.exit(130)
