"""`python -m evac`: the console script for whoever has not installed it."""

from evac.cli import main

if __name__ == "__main__":
    main()
