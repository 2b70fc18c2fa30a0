"""Downloads: the list, the button in the top bar, and pairs that are fetched whole."""
