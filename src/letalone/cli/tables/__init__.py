"""Commands about a table: to ask it, learn from it, describe it, and convert one."""
