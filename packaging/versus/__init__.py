"""Paceline's engine against llama.cpp's own server, in turns: the parts of `versus_server.py`."""
