"""What an instructor's ``given.py`` may use. It runs beside the submission: nothing here scores."""

from grader.vgpu.log import logged
from grader.vgpu.placed import placement
from grader.vgpu.timeline import on_timeline
from grader.vgpu.watch import watching

__all__ = ["logged", "on_timeline", "placement", "watching"]
