"""What can be asked of each group: aggregates with their facts, and formulas over them."""
