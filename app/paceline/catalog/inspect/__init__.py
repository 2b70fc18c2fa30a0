"""Looking into model files, in a process of its own: what they hold may end llama.cpp's."""
