"""What an instructor's ``given.py`` may use. It runs beside the submission: nothing here scores."""

from grader.actor.old_gradients import OldGradients
from grader.vgpu.core.tensor import placement
from grader.vgpu.log.collector import logged
from grader.vgpu.log.summary import watching
from grader.vgpu.timeline import on_timeline

__all__ = ["OldGradients", "logged", "on_timeline", "placement", "watching"]
