"""Report editions: requesting, computing and showing them. `offdiag.reports` writes them."""
