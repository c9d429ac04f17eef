"""The steps, in order; a step that was published is never changed."""
