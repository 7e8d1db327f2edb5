"""Faces: words, arguments and JSON around the services. No decisions are made here."""
