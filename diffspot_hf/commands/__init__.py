"""The commands, by what they are for. Each module adds its parsers with `add_to`."""
