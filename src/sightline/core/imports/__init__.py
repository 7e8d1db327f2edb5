"""What a source refers to, and which files of the tree that means."""
