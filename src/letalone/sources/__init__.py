"""Which table a source is, and so which budget: files, addresses, names and frames."""
