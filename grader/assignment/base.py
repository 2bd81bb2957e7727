"""What all types of an assignment file share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of all spec types: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
