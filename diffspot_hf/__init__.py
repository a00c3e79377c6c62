"""diffspot_hf: which vision-language model can be trusted to see what changed between two images."""

__version__ = "0.1.0"
