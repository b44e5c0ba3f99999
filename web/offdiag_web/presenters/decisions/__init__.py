"""Pages about what scores would answer under costs."""
