"""The command line `offdiag`: a folder for each section of its help, a module for each noun."""

from offdiag.cli.commands import main

__all__ = ["main"]
