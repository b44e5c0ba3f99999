"""The command line: `offdiag VERB …`. One file for each verb, one service call in each verb."""

from offdiag.cli.process import main

__all__ = ["main"]
