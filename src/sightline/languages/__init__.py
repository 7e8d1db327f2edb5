"""Parsers by language: a source's bytes become the references in it. They touch no disk."""
