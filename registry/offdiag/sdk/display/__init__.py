"""Results as text and as cards of a notebook."""
