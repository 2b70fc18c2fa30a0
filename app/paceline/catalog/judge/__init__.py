"""Which models form a pair, why others do not, and which draft model to take."""
