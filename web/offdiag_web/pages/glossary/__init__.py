"""The glossary: metrics with their definitions and symmetries."""
