"""``python -I -m grader.similarity``: turns submissions into tokens until the line is closed."""

from __future__ import annotations

from grader.similarity.tokens import pack, tokenise
from grader.static_analysis.reader import serve

serve(lambda data: pack(tokenise(data.decode("utf-8", "replace"))), too_much=b"[]")
