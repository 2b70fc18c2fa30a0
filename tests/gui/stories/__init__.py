"""What a person does with the window, from the first click to what they see."""
