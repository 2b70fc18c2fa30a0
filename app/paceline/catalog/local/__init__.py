"""The model files on this computer: where they lie, and what is known of each."""
