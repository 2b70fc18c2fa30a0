"""What the engine needs to know of a model and of its library; no native code in here."""
