"""The Hugging Face Hub: search, repositories, headers of files that are not here, and tokens."""
