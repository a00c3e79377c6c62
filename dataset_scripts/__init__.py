"""One `datasets` builder a benchmark; each module also runs as a converter (``python dataset_scripts/diffspot.py``)."""
