"""Mentions as the tests ask for them, and what they left on record."""

from __future__ import annotations

from sightline.briefing.mentions import show_mentions


def told(s, text, **limits):
    return show_mentions(s._context, text, **limits)


def one(s, text, **limits):
    [only] = told(s, text, **limits).found
    return only


def lines(first, last):
    return "".join(f"line {n}\n" for n in range(first, last + 1))


def seen(s):
    return {each.path: (each.via, each.seen_lines) for each in s.files()}
