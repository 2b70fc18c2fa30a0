"""How model families write calls of tools: what tells a family, its grammar, reader and writer."""
