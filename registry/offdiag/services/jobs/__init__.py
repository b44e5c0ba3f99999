"""Work that somebody has yet to do: asked for, taken, done once, shown to people.

The work table is the truth; everything else only tells somebody to look at it.
"""
