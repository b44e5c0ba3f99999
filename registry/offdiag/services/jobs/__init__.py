"""Jobs: how work is submitted, leased, run exactly once, and shown to people.

The work table is authoritative; everything else only tells workers to look at it.
"""
