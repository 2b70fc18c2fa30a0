"""Reading of model files in a process of its own, since damaged ones can crash llama.cpp."""
