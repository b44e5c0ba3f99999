"""Ground truth after it was logged: corrected, compared, and what a correction did to runs."""
