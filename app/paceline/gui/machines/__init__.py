"""Other computers, whose devices can hold models: their state, and their page."""
