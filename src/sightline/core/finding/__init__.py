"""Finding files: patterns, the list of paths as it is asked, help for wrong guesses. Told, never looking."""
