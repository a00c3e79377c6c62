"""`evaluate` modules: thin shells over `diffspot_hf.scoring`."""
