"""What schemathesis cannot know of /v1: which workspace is the caller's, and that waiting takes time."""

import re

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    if not isinstance(case.body, dict):
        return
    # Any other workspace is refused before the tool is reached; other kinds than text stay.
    if isinstance(case.body.get("workspace"), str):
        case.body["workspace"] = "garden"
    if case.operation.definition.raw.get("operationId") == "wait_for_messages":
        case.body["timeout_s"] = 0


@schemathesis.check
def every_field_is_declared(context, response, case):
    """Schemas let answers grow, so a field that none of them names would pass unseen."""
    if response.status_code == 200:
        answer = case.operation.definition.raw["responses"]["200"]
        found = undeclared(answer["content"]["application/json"]["schema"], response.json(), "")
        assert not found, f"not in the document: {found}"


def undeclared(schema, value, place):
    if not isinstance(schema, dict):
        return []
    if "anyOf" in schema and "properties" in schema:
        # An item of the log: which fields it has depends on its type, and callers make up types.
        return []
    if "anyOf" in schema or "oneOf" in schema:
        # One of the forms that the value can have has to name every field, with those that all have.
        forms = [form for form in schema.get("anyOf", schema.get("oneOf")) if may_be(form, value)]
        forms = [with_fields(form, schema.get("properties", {})) for form in forms]
        return min((undeclared(form, value, place) for form in forms), key=len, default=[])
    if isinstance(value, list):
        return [name for each in value for name in undeclared(schema.get("items", {}), each, place)]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    known = schema["properties"]
    patterns = schema.get("patternProperties", {})
    value = {key: each for key, each in value.items() if key in known or not any(re.search(p, key) for p in patterns)}
    return [
        name
        for key, each in value.items()
        for name in (undeclared(known[key], each, f"{place}/{key}") if key in known else [f"{place}/{key}"])
    ]


def with_fields(form, fields):
    if not isinstance(form, dict) or "properties" not in form:
        return form
    return {**form, "properties": {**fields, **form["properties"]}}


def may_be(schema, value):
    if not isinstance(schema, dict) or "anyOf" in schema:
        return True
    kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else None
    return kind is None or schema.get("type", kind) == kind or kind in schema.get("type", [])
