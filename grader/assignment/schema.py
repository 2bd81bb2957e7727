"""The JSON Schema of an assignment file, for editors that complete and check as one types.

``grader schema assignment`` prints it; ``make setup`` writes it where ``assignment.yml`` tells
editors to look.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from grader.assignment.types import SCHEMA_ID, Assignment
from grader.checks import Check

Schema = dict[str, Any]
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n     .*)*)", re.MULTILINE)


def assignment_schema() -> Schema:
    """Return the schema: draft 2020-12, with a description for every key that has one.

    It knows names, types and ranges. What only shows when parts are compared (points that do not
    add up, names that nothing has) is left to ``grader lint`` and to loading.
    """
    schema = Assignment.model_json_schema(by_alias=True)
    for part in (schema, *schema["$defs"].values()):
        _describe(part)
        if "const" in part.get("properties", {}).get("kind", {}):
            _complete_check(part)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA_ID.replace('/', ':')}",
        **_mended(schema),
        "title": "torchgrade assignment",
    }


def _describe(part: Schema) -> None:
    """Move what a docstring says of an attribute to that attribute, where editors show it."""
    text, _, attributes = part.get("description", "").partition("\n\nAttributes:\n")
    if text:
        part["description"] = " ".join(text.split())
    _describe_fields(part, attributes)


def _describe_fields(part: Schema, attributes: str) -> None:
    for name, said in _ATTRIBUTE.findall(attributes):
        field = part["properties"][name.rstrip("_")]
        field["description"] = " ".join(said.replace("``", "`").split())


def _complete_check(part: Schema) -> None:
    """Describe what all checks share, and require ``kind``, which has a default only in Python."""
    _describe_fields(part, inspect.getdoc(Check) or "")
    part["required"] = sorted({*part.get("required", ()), "kind"})


def _mended(node: Any) -> Any:
    """Mend what pydantic writes: ``oneOf`` refuses 1, which is integer and number; names leak."""
    if isinstance(node, list):
        return [_mended(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: _mended(value) for key, value in node.items()}
    if "oneOf" in result and "discriminator" not in result:
        result["anyOf"] = result.pop("oneOf")
    if "patternProperties" in result:
        result["additionalProperties"] = False
    return result
