"""`python -m diffspot_hf …`: the same command line, in the form `accelerate launch -m` and `torchrun -m` need."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
