"""Templates of data set and metric cards, filled from real figures."""
