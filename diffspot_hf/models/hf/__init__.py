"""The rooms behind `diffspot_hf.models.transformers`: loading, what a model sees, preparing and batching."""
