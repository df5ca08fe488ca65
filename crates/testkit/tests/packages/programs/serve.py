"""The least of a server over stdio: one tool, which says what its package found out about itself."""

import json
import sys

TOOL = {
    "name": "facts",
    "description": "Says what the package found.",
    "inputSchema": {"type": "object"},
}


def answer(method, parameters, facts):
    if method == "initialize":
        return {
            "protocolVersion": parameters["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "probe", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(facts())}]}
    return {}


def serve(facts):
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {}, facts)
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    return 0
