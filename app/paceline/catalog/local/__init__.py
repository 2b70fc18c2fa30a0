"""The model files on this computer, and the known facts of each."""
