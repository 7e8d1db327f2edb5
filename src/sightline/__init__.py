"""Sightline keeps a coding agent's view of its files true.

    with sightline.open_session("path/to/workspace") as session:
        view = session.read("src/app.py")
        session.edit("src/app.py", old="a = 1", new="a = 2")

Importing the package is cheap: a public name is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.answers.answer import Answer as Answer
    from sightline.answers.answer import AnswerResult as AnswerResult
    from sightline.answers.answer import ApplyMode as ApplyMode
    from sightline.answers.answer import JudgedChange as JudgedChange
    from sightline.answers.prompts import Prompt as Prompt
    from sightline.answers.prompts import Prompts as Prompts
    from sightline.answers.reading import read_plan as read_plan
    from sightline.api.conversation import Conversation as Conversation
    from sightline.api.opening import open_session as open_session
    from sightline.api.session import Session as Session
    from sightline.api.session import Work as Work
    from sightline.api.subtask_verbs import Subtasks as Subtasks
    from sightline.api.verbs import FilePath as FilePath
    from sightline.api.workspace import Workspace as Workspace
    from sightline.api.workspace import open_workspace as open_workspace
    from sightline.briefing.compose import Briefing as Briefing
    from sightline.briefing.mentions import Mentioned as Mentioned
    from sightline.briefing.registry import Registry as Registry
    from sightline.codegraph.related_files import Related as Related
    from sightline.codegraph.related_files import RelatedFile as RelatedFile
    from sightline.config.settings import Settings as Settings
    from sightline.errors import AnswerInvalid as AnswerInvalid
    from sightline.errors import CheckpointFailed as CheckpointFailed
    from sightline.errors import ClaimRefused as ClaimRefused
    from sightline.errors import CondenseRefused as CondenseRefused
    from sightline.errors import EditRefused as EditRefused
    from sightline.errors import FileMissing as FileMissing
    from sightline.errors import HistoryError as HistoryError
    from sightline.errors import LinesMissing as LinesMissing
    from sightline.errors import ModelFailed as ModelFailed
    from sightline.errors import PathReason as PathReason
    from sightline.errors import PathRefused as PathRefused
    from sightline.errors import PromptError as PromptError
    from sightline.errors import RecoveryRefused as RecoveryRefused
    from sightline.errors import RefusalReason as RefusalReason
    from sightline.errors import RewindRefused as RewindRefused
    from sightline.errors import SessionError as SessionError
    from sightline.errors import SettingsError as SettingsError
    from sightline.errors import SightlineError as SightlineError
    from sightline.errors import StoreError as StoreError
    from sightline.errors import SubtaskError as SubtaskError
    from sightline.errors import TooManyOpenFiles as TooManyOpenFiles
    from sightline.errors import UnknownName as UnknownName
    from sightline.errors import Unverifiable as Unverifiable
    from sightline.errors import WindowFull as WindowFull
    from sightline.errors import WorkspaceError as WorkspaceError
    from sightline.guard.batch import Change as Change
    from sightline.messages.saved_file import Loaded as Loaded
    from sightline.messages.saved_file import Saved as Saved
    from sightline.messages.written_history import History as History
    from sightline.model.events import CauseKind as CauseKind
    from sightline.model.results import Affected as Affected
    from sightline.model.results import BatchResult as BatchResult
    from sightline.model.results import ChangedBy as ChangedBy
    from sightline.model.results import Checkpoint as Checkpoint
    from sightline.model.results import CheckpointReason as CheckpointReason
    from sightline.model.results import Claim as Claim
    from sightline.model.results import CommandRun as CommandRun
    from sightline.model.results import Confidence as Confidence
    from sightline.model.results import Decision as Decision
    from sightline.model.results import EditedFile as EditedFile
    from sightline.model.results import EditedFiles as EditedFiles
    from sightline.model.results import EditResult as EditResult
    from sightline.model.results import Environment as Environment
    from sightline.model.results import Export as Export
    from sightline.model.results import FileChange as FileChange
    from sightline.model.results import FileInContext as FileInContext
    from sightline.model.results import FileView as FileView
    from sightline.model.results import FileWarning as FileWarning
    from sightline.model.results import HandedOver as HandedOver
    from sightline.model.results import LeftAlone as LeftAlone
    from sightline.model.results import ModelUsage as ModelUsage
    from sightline.model.results import NotCovered as NotCovered
    from sightline.model.results import Notice as Notice
    from sightline.model.results import RewindReport as RewindReport
    from sightline.model.results import State as State
    from sightline.model.results import TakenBack as TakenBack
    from sightline.model.results import TimelineEntry as TimelineEntry
    from sightline.model.results import UnreadCall as UnreadCall
    from sightline.model.results import Verdict as Verdict
    from sightline.model.results import VerdictReason as VerdictReason
    from sightline.model.results import WhatChanged as WhatChanged
    from sightline.recordings.read_recordings import read_messages as read_messages
    from sightline.search.chains import Fallback as Fallback
    from sightline.search.chains import FindResult as FindResult
    from sightline.search.guesses import Candidate as Candidate
    from sightline.search.listing import DirectoryListing as DirectoryListing
    from sightline.search.listing_requests import ListingRequest as ListingRequest
    from sightline.search.stats import Stats as Stats
    from sightline.subtasks.dependency_graph import Proposal as Proposal
    from sightline.subtasks.subtask import ChangedFile as ChangedFile
    from sightline.subtasks.subtask import ChangedText as ChangedText
    from sightline.subtasks.subtask import Conflict as Conflict
    from sightline.subtasks.subtask import Graph as Graph
    from sightline.subtasks.subtask import ResultTodo as ResultTodo
    from sightline.subtasks.subtask import SubTask as SubTask
    from sightline.subtasks.subtask import TaskResult as TaskResult
    from sightline.window.condense import Condensation as Condensation
    from sightline.window.condense import Summarizer as Summarizer
    from sightline.window.display import Displayed as Displayed
    from sightline.window.model_summarizer import model_summarizer as model_summarizer
    from sightline.window.overflow import ErrorKind as ErrorKind
    from sightline.window.overflow import ProviderError as ProviderError
    from sightline.window.overflow import classify_error as classify_error
    from sightline.window.overflow_recovery import Recovery as Recovery
    from sightline.window.overflow_recovery import RequestSize as RequestSize
    from sightline.window.repeated_calls import RepeatedCall as RepeatedCall
    from sightline.window.sent_view import Budget as Budget

__version__ = "0.1.0"

_HOMES = {
    "answers.answer": "Answer AnswerResult ApplyMode JudgedChange",
    "answers.prompts": "Prompt Prompts",
    "answers.reading": "read_plan",
    "api.opening": "open_session",
    "api.session": "Session Work",
    "api.subtask_verbs": "Subtasks",
    "api.verbs": "FilePath",
    "api.workspace": "Workspace open_workspace",
    "briefing.compose": "Briefing",
    "briefing.mentions": "Mentioned",
    "briefing.registry": "Registry",
    "codegraph.related_files": "Related RelatedFile",
    "config.settings": "Settings",
    "window.condense": "Condensation Summarizer",
    "window.display": "Displayed",
    "api.conversation": "Conversation",
    "window.model_summarizer": "model_summarizer",
    "window.overflow": "ErrorKind ProviderError classify_error",
    "window.overflow_recovery": "Recovery RequestSize",
    "window.repeated_calls": "RepeatedCall",
    "window.sent_view": "Budget",
    "messages.saved_file": "Loaded Saved",
    "messages.written_history": "History",
    "recordings.read_recordings": "read_messages",
    "errors": "AnswerInvalid CheckpointFailed ClaimRefused CondenseRefused EditRefused FileMissing HistoryError LinesMissing ModelFailed PathReason PathRefused PromptError RecoveryRefused RefusalReason RewindRefused SessionError SettingsError SightlineError StoreError SubtaskError TooManyOpenFiles UnknownName Unverifiable WindowFull WorkspaceError",
    "guard.batch": "Change",
    "model.events": "CauseKind",
    "model.results": "Affected BatchResult ChangedBy Checkpoint CheckpointReason Claim CommandRun Confidence Decision EditResult EditedFile EditedFiles Environment Export FileChange FileInContext FileView FileWarning HandedOver LeftAlone ModelUsage NotCovered Notice RewindReport State TakenBack TimelineEntry UnreadCall Verdict VerdictReason WhatChanged",
    "search.chains": "Fallback FindResult",
    "search.guesses": "Candidate",
    "search.listing": "DirectoryListing",
    "search.listing_requests": "ListingRequest",
    "search.stats": "Stats",
    "subtasks.dependency_graph": "Proposal",
    "subtasks.subtask": "ChangedFile ChangedText Conflict Graph ResultTodo SubTask TaskResult",
}
"""Module -> the public names that it defines."""

__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names.split():
            from importlib import import_module

            from sightline.filesystem.open_files import enough_files

            with enough_files():
                value: object = getattr(import_module(f"sightline.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'sightline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
