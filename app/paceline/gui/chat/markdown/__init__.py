"""Growing Markdown, in text documents that know which token each character came from."""
