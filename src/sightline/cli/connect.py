"""Connections of agents on this machine, for init, up and doctor."""

from __future__ import annotations

import os
import sys

from sightline.agents.connection import Kind, Place, Program, RegisteredHook, Scope
from sightline.agents.hook_line import ENTRY
from sightline.agents.product import Product
from sightline.agents.products import connectable
from sightline.agents.settings_file import Change, backup_of
from sightline.api.folders import settings_of
from sightline.errors import SettingsError
from sightline.hooks.http_endpoint import http_settings


def place_of(root: str) -> Place:
    """Return where this user's settings are. root: the workspace, may be empty."""
    return Place(root, os.environ, os.path.expanduser("~"))


def found_products(root: str) -> list[Product]:
    """Return the products that this user has, or has used in this workspace. root may be empty."""
    place = place_of(root)
    return [each for each in connectable() if each.connection.is_here(place)]


PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def entry_script() -> str:
    """Return the script that a command hook runs."""
    return os.path.join(PACKAGE, "hooks", ENTRY)


def program_for(product: Product, root: str, kind: Kind = "command") -> Program:
    """Return what a product's hooks of this installation call. SettingsError."""
    if not sys.executable:
        raise SettingsError(
            "Sightline cannot find out which Python runs it.", "Run this command from a shell."
        )
    python, script = os.path.abspath(sys.executable), entry_script()
    if kind == "command":
        return Program(python, script)
    url, token = http_settings(settings_of(root, None).state_home, root, product.name)
    return Program(python, script, url, token)


def plan(
    product: Product, root: str, scope: Scope, kind: Kind = "command", *, remove: bool = False
) -> Change:
    """Plan the change of a settings file that connects or disconnects a product. SettingsError."""
    program = None if remove else program_for(product, root, kind)
    return product.connection.plan(scope, place_of(root), program)


def private_files(root: str, change: Change) -> list[str]:
    """Return the files of a change of the local settings, relative to the root: they are for this
    machine alone."""
    return [
        os.path.relpath(path, root).replace(os.sep, "/")
        for path in (change.path, backup_of(change.path))
    ]


def connections(product: Product, root: str) -> dict[Scope, list[RegisteredHook]]:
    """Return the scopes whose settings have hooks of Sightline, with these hooks. SettingsError."""
    place, connection = place_of(root), product.connection
    named = {scope: connection.registered(scope, place) for scope in connection.scopes}
    return {scope: found for scope, found in named.items() if found}


def connected_products(root: str) -> dict[str, Product]:
    """Return the products that are connected in a workspace, by name. SettingsError."""
    return {each.name: each for each in connectable() if connections(each, root)}
