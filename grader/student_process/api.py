"""What an instructor's ``given.py`` may use. It runs beside the submission: nothing here scores."""

from grader.student_process.old_gradients import OldGradients
from grader.vgpu.core.tensor import placement
from grader.vgpu.recording.recorder import logged
from grader.vgpu.recording.summary import watching
from grader.vgpu.timeline import on_timeline

__all__ = ["OldGradients", "logged", "on_timeline", "placement", "watching"]
