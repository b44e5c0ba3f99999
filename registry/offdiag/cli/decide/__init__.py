"""Commands about flags, gates, and which run is approved."""
