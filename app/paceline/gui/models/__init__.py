"""The pair of models: choosing, downloading, loading, memory, and remedies after a failed load."""
