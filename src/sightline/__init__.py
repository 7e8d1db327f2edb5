"""Sightline keeps a coding agent's view of its files true.

    with sightline.open_session("path/to/workspace") as session:
        view = session.read("src/app.py")
        session.edit("src/app.py", old="a = 1", new="a = 2")

Importing this is cheap: each public name is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.config import Settings
    from sightline.core.finding.chains import FindResult
    from sightline.core.finding.guesses import Candidate
    from sightline.core.finding.success import Stats
    from sightline.core.listing import DirectoryListing
    from sightline.core.overflow import ProviderError, classify_error
    from sightline.core.requesting import LISTINGS_SCHEMA, ListingRequest
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
    from sightline.services.batches import Change
    from sightline.services.briefing import Briefing
    from sightline.services.conversation import Conversation
    from sightline.services.conversation.asking import Budget
    from sightline.services.conversation.condensing import Condensation
    from sightline.services.conversation.files import Loaded, Saved
    from sightline.services.conversation.showing import Displayed
    from sightline.services.mentioning import Mentioned
    from sightline.services.opening import open_session
    from sightline.services.registry import Registry
    from sightline.services.related import Related, RelatedFile
    from sightline.services.results import (
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
    from sightline.services.session import Session
    from sightline.services.workspaces import TimelineEntry, Workspace, open_workspace

__version__ = "0.1.0"

_HOMES = {
    "config": "Settings",
    "core.finding.chains": "FindResult",
    "core.finding.guesses": "Candidate",
    "core.finding.success": "Stats",
    "core.listing": "DirectoryListing",
    "core.overflow": "ProviderError classify_error",
    "core.requesting": "LISTINGS_SCHEMA ListingRequest",
    "errors": "CheckpointFailed ClaimRefused CondenseRefused EditRefused FileMissing HistoryError PathRefused RewindRefused SessionError SettingsError SightlineError StoreError UnknownName Unverifiable WorkspaceError",
    "services.batches": "Change",
    "services.briefing": "Briefing",
    "services.conversation": "Conversation",
    "services.conversation.asking": "Budget",
    "services.conversation.condensing": "Condensation",
    "services.conversation.files": "Loaded Saved",
    "services.conversation.showing": "Displayed",
    "services.mentioning": "Mentioned",
    "services.opening": "open_session",
    "services.registry": "Registry",
    "services.related": "Related RelatedFile",
    "services.results": "Affected BatchResult ChangedBy Checkpoint Claim CommandRun EditedFile EditedFiles EditResult Environment Export FileChange FileInContext FileView FileWarning HandedOver LeftAlone ModelUsage NotCovered Notice RewindReport TakenBack UnreadCall Verdict",
    "services.session": "Session",
    "services.workspaces": "TimelineEntry Workspace open_workspace",
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
