"""Say how to install an extra of Sightline: this module alone decides the form.

The package is on no index yet, so the extra comes out of the clone that Sightline was installed from.
"""

FORM = "pip install '.[{extra}]'"
"""The command, in the folder of the clone. {extra}: a name of [project.optional-dependencies]."""


def installing(extra: str) -> str:
    """Return the sentence that says how to install an extra."""
    return f"In your clone of Sightline, run: {FORM.format(extra=extra)}"
