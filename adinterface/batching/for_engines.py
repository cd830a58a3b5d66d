"""What engines may import: tasks on the workers of an executor."""

from .workers import Outside, Task, run_all

__all__ = ["Outside", "Task", "run_all"]
