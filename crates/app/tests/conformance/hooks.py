"""What schemathesis cannot know of /v1: which workspace is the caller's, and that waiting takes time."""

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
