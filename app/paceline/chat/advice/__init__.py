"""What a user could try next, from the figures of a reply and from what Auto measured."""
