"""Who asks, and whether they may: decided at one door, before any page runs."""
