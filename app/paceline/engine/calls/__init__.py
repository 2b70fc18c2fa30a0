"""How model families write calls of tools: what tells a family, its grammar, and its reader."""
