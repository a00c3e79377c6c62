"""The rooms behind `diffspot_hf.models.endpoint`: messages, transports, retries and the crew that asks side by side."""
