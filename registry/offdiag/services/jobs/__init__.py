"""Jobs: submitted, leased, done once, shown to people.

The work table is the truth; everything else only tells workers to look at it.
"""
