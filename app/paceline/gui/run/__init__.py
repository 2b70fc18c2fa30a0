"""The dialog about the making of a reply, with a check against plain decoding."""
