"""Numbers that mean exactly what was typed, and real numbers with certified bounds."""
