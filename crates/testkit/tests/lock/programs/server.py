"""An MCP server over stdio whose lists stand in a file beside it, each as a text that is sent as it stands.

It says that its lists have changed whenever that file has. A call is answered with what was called.
"""

import json
import sys
import threading
import time
from pathlib import Path

FILE = Path(__file__).with_name("lists.json")
CHANGED = ("tools", "prompts", "resources")
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
one_at_a_time = threading.Lock()


def say(text: str) -> None:
    with one_at_a_time:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def lists() -> dict:
    return json.loads(FILE.read_text())


def hello(asked: str) -> str:
    told = lists()
    parts = [
        f'"protocolVersion": {json.dumps(asked)}',
        f'"capabilities": {told["capabilities"]}',
        f'"serverInfo": {told["serverInfo"]}',
        f'"instructions": {told["instructions"]}',
    ]
    return "{" + ", ".join(parts) + "}"


def page(name: str, cursor: str | None) -> str:
    pages = lists()[name]
    at = int(cursor or 0)
    following = f', "nextCursor": "{at + 1}"' if at + 1 < len(pages) else ""
    return "{" + f'"{name}": {pages[at]}{following}' + "}"


def answer(message: dict) -> str:
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return hello(params["protocolVersion"])
    if method in LISTS:
        return page(LISTS[method], params.get("cursor"))
    if method == "tools/call":
        said = {"type": "text", "text": "did " + params["name"]}
        return json.dumps({"content": [said]})
    return "{}"


def watch() -> None:
    last = FILE.stat().st_mtime_ns
    while True:
        time.sleep(0.03)
        now = FILE.stat().st_mtime_ns
        if now != last:
            last = now
            for name in CHANGED:
                say(json.dumps({"jsonrpc": "2.0", "method": f"notifications/{name}/list_changed"}))


for line in sys.stdin:
    heard = json.loads(line)
    if heard.get("method") == "notifications/initialized":
        threading.Thread(target=watch, daemon=True).start()
    if "id" in heard and "method" in heard:
        say(f'{{"jsonrpc": "2.0", "id": {json.dumps(heard["id"])}, "result": {answer(heard)}}}')
