"""What comes first and what happens when it fails: load, ask core, act, append."""
