"""Numbers: means, ranges, quantiles and whole distributions."""
