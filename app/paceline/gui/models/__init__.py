"""The pair of models: choosing, downloading, loading, memory, and what follows a failed load."""
