"""Steps in front of a private estimator: which learn from rows; pipelines of those that do not."""
