"""The findings of `paceline doctor`: own kernels, known problems, the last reply."""
