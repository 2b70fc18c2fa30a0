"""Memory that a pair takes of each device, and what to give up when it does not fit."""
