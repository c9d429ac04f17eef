"""Made-up data to try letalone on. Nobody in it exists."""
