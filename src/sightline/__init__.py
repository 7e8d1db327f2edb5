"""Sightline keeps a coding agent's view of its files true.

    with sightline.open_session("path/to/workspace") as session:
        view = session.read("src/app.py")
        session.edit("src/app.py", old="a = 1", new="a = 2")

Importing this is cheap: each public name is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.api.opening import open_session
    from sightline.api.session import Session
    from sightline.api.workspace import TimelineEntry, Workspace, open_workspace
    from sightline.briefing.compose import Briefing
    from sightline.briefing.mentions import Mentioned
    from sightline.briefing.registry import Registry
    from sightline.codegraph.related_files import Related, RelatedFile
    from sightline.config.settings import Settings
    from sightline.conversation.condense import Condensation
    from sightline.conversation.display import Displayed
    from sightline.conversation.log import Conversation
    from sightline.conversation.overflow import ProviderError, classify_error
    from sightline.conversation.saved_file import Loaded, Saved
    from sightline.conversation.view_options import Budget
    from sightline.errors import (
        CheckpointFailed,
        ClaimRefused,
        CondenseRefused,
        EditRefused,
        FileMissing,
        HistoryError,
        PathRefused,
        RewindRefused,
        SessionError,
        SettingsError,
        SightlineError,
        StoreError,
        UnknownName,
        Unverifiable,
        WorkspaceError,
    )
    from sightline.guard.batch import Change
    from sightline.model.results import (
        Affected,
        BatchResult,
        ChangedBy,
        Checkpoint,
        Claim,
        CommandRun,
        EditedFile,
        EditedFiles,
        EditResult,
        Environment,
        Export,
        FileChange,
        FileInContext,
        FileView,
        FileWarning,
        HandedOver,
        LeftAlone,
        ModelUsage,
        NotCovered,
        Notice,
        RewindReport,
        TakenBack,
        UnreadCall,
        Verdict,
    )
    from sightline.search.chains import FindResult
    from sightline.search.guesses import Candidate
    from sightline.search.listing import DirectoryListing
    from sightline.search.listing_requests import LISTINGS_SCHEMA, ListingRequest
    from sightline.search.stats import Stats

__version__ = "0.1.0"

_HOMES = {
    "api.opening": "open_session",
    "api.session": "Session",
    "api.workspace": "TimelineEntry Workspace open_workspace",
    "briefing.compose": "Briefing",
    "briefing.mentions": "Mentioned",
    "briefing.registry": "Registry",
    "codegraph.related_files": "Related RelatedFile",
    "config.settings": "Settings",
    "conversation.condense": "Condensation",
    "conversation.display": "Displayed",
    "conversation.log": "Conversation",
    "conversation.overflow": "ProviderError classify_error",
    "conversation.saved_file": "Loaded Saved",
    "conversation.view_options": "Budget",
    "errors": "CheckpointFailed ClaimRefused CondenseRefused EditRefused FileMissing HistoryError PathRefused RewindRefused SessionError SettingsError SightlineError StoreError UnknownName Unverifiable WorkspaceError",
    "guard.batch": "Change",
    "model.results": "Affected BatchResult ChangedBy Checkpoint Claim CommandRun EditedFile EditedFiles EditResult Environment Export FileChange FileInContext FileView FileWarning HandedOver LeftAlone ModelUsage NotCovered Notice RewindReport TakenBack UnreadCall Verdict",
    "search.chains": "FindResult",
    "search.guesses": "Candidate",
    "search.listing": "DirectoryListing",
    "search.listing_requests": "LISTINGS_SCHEMA ListingRequest",
    "search.stats": "Stats",
}
"""Module -> the public names that live there."""

__all__ = [
    "LISTINGS_SCHEMA",
    "Affected",
    "BatchResult",
    "Briefing",
    "Budget",
    "Candidate",
    "Change",
    "ChangedBy",
    "Checkpoint",
    "CheckpointFailed",
    "Claim",
    "ClaimRefused",
    "CommandRun",
    "Condensation",
    "CondenseRefused",
    "Conversation",
    "DirectoryListing",
    "Displayed",
    "EditRefused",
    "EditResult",
    "EditedFile",
    "EditedFiles",
    "Environment",
    "Export",
    "FileChange",
    "FileInContext",
    "FileMissing",
    "FileView",
    "FileWarning",
    "FindResult",
    "HandedOver",
    "HistoryError",
    "LeftAlone",
    "ListingRequest",
    "Loaded",
    "Mentioned",
    "ModelUsage",
    "NotCovered",
    "Notice",
    "PathRefused",
    "ProviderError",
    "Registry",
    "Related",
    "RelatedFile",
    "RewindRefused",
    "RewindReport",
    "Saved",
    "Session",
    "SessionError",
    "Settings",
    "SettingsError",
    "SightlineError",
    "Stats",
    "StoreError",
    "TakenBack",
    "TimelineEntry",
    "UnknownName",
    "UnreadCall",
    "Unverifiable",
    "Verdict",
    "Workspace",
    "WorkspaceError",
    "classify_error",
    "open_session",
    "open_workspace",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names.split():
            from importlib import import_module

            found: object = getattr(import_module(f"sightline.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'sightline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
