"""The faults that `planted_faults.py` plants, a module for each class of them."""
