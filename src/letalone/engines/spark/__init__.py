"""The engine on Spark: a session that stays silent, a dialect, and how frames are made."""
