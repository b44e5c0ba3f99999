"""The command line: `offdiag VERB …`. A module for each noun, with its tables apart."""

from offdiag.cli.process import main

__all__ = ["main"]
