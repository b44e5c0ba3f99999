"""Who may do what, as pages show it."""
