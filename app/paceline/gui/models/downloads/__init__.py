"""Downloads: the list, the button in the top bar, and downloads of whole pairs."""
