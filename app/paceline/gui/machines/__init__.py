"""Other computers, whose devices models may be put on: what is known of them, and their page."""
