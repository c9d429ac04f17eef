"""Models that are read off noisy sums: regressions, clusters, components, scalers."""
