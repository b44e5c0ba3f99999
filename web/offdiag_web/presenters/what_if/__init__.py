"""The what-if page: prices that can be changed, and what becomes of runs when they are."""
