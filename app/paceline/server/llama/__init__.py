"""The API of llama.cpp's own server, as programs use it that were written for it."""
