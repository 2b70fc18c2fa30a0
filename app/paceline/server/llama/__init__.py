"""The API of llama.cpp's own server, for programs that were written for it."""
