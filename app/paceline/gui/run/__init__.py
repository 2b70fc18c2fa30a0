"""The dialog that shows how a reply was made, and whether plain decoding gives the same."""
