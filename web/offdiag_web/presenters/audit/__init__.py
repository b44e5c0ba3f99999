"""Audits of pasted tables: verdicts, and how the text was read."""
