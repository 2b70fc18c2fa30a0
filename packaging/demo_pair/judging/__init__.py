"""What the pair is worth, measured on its GGUF files with llama.cpp and Paceline's engine."""
