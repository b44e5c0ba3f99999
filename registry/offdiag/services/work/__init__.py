"""The work table is the truth; everything else only tells somebody to look at it."""
