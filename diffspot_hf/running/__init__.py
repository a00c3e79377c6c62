"""From rows to a run folder: who asks what, what is kept, and what happens when it is stopped in the middle."""
