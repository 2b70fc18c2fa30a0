"""What `paceline doctor` finds: own kernels, known problems, the last reply."""
