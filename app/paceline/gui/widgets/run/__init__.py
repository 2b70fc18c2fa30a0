"""The parts of the dialog that shows how a reply was made."""
