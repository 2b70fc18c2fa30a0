"""Two replies beside each other, with their clocks; "Compare" runs both sides of a question."""
