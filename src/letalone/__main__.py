"""`python -m letalone`, where the `letalone` script is not on the path."""

from letalone.cli import main

if __name__ == "__main__":
    main()
