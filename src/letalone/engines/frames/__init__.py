"""Tables in memory: pandas, Polars and Arrow frames as Arrow tables, and how lazy ones are made."""
