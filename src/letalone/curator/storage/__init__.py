"""What the curator keeps: its database, settings, keys and caches, and what it refuses."""
