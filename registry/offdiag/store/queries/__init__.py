"""Read models: one module per screen, each a few statements whose number never grows with rows."""
