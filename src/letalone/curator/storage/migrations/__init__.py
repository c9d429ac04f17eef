"""How the curator's database became what it is: one file a step, run by alembic at the start."""
