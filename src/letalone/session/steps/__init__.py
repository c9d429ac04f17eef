"""What is found before an answer and paid for with it: bounds of columns, limits of rows."""
