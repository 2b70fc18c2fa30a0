"""Lists of models: on this computer, on the Hub, and recommended pairs."""
