"""Questions to a curator over HTTP, in the same words as to a table of one's own."""
