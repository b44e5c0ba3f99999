"""Reports: asked for, computed, shown. What they say is decided in `offdiag.reports`."""
