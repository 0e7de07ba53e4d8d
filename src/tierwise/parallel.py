"""Moved to `tierwise.tasks`."""

from tierwise.tasks import run_tasks as run_tasks
from tierwise.tasks import stream_tasks as stream_tasks
