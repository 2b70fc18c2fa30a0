"""What an empty chat shows: the first-run page, and questions to begin with."""
