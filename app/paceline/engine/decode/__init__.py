"""The decoding loop: draft, verify in one target decode, commit, roll back."""
