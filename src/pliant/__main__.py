"""`python -m pliant` is the command line."""

from pliant.cli import main

if __name__ == "__main__":
    main(prog_name="pliant")
