"""`python -m bayleaf` is the command `bayleaf`."""

from bayleaf.cli import main

main()
