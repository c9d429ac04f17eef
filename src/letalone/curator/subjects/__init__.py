"""People in the data: held or not, their rows, corrections and erasure."""
