"""Analysts' SQL: read, translated into a question of ours, or refused; never sent to an engine."""
