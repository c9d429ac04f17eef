"""`python -m letalone.cli`, where the `letalone` script is not on the path."""

from letalone.cli import main

main()
