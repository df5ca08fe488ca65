"""An MCP server that many callers use at once, by stdio or by streamable HTTP.

Usage: python3 load_server.py NAME stdio | NAME http PORT

`next` returns a number that no other answer of this process has, `wait` does so later, and `append` first adds a line to the
ledger in the data folder. Each answer repeats the caller's nonce, and who the caller is as the gateway says.
"""

import itertools
import json
import os
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = sys.argv[1]
BOOT = uuid.uuid4().hex
MODERN = "io.modelcontextprotocol/protocolVersion"
numbers = itertools.count(1)
users = set()
sessions = set()
lock = threading.Lock()
ledger = None


def tool(name):
    properties = {"nonce": {"type": "string"}, "user_id": {"type": "string"}, "ms": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["nonce", "user_id"]}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema}


def append(nonce, user):
    global ledger
    with lock:
        if ledger is None:
            ledger = os.open("/data/ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        line = f"{nonce} {NAME} {user} {time.time_ns() // 1000} {BOOT}\n"
        os.write(ledger, line.encode())


def perform(name, arguments):
    nonce, user = arguments["nonce"], arguments["user_id"]
    if name == "append":
        append(nonce, user)
    with lock:
        users.add(user)
        told = {"nonce": nonce, "user": user, "server": NAME, "number": next(numbers), "boot": BOOT}
        told["users"] = sorted(users)
    return {"content": [{"type": "text", "text": json.dumps(told)}]}


def answer(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": NAME, "version": "1"},
        }
    if method == "server/discover":
        return {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": NAME, "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [tool(name) for name in ["next", "append", "wait"]]}
    if method == "tools/call":
        return perform(params["name"], params["arguments"])
    return {}


def delay(message):
    params = message.get("params", {})
    waits = message["method"] == "tools/call" and params.get("name") == "wait"
    return params["arguments"].get("ms", 1) / 1000 if waits else 0


def replied(message):
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}).encode()


class Streamable(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def send(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if "id" not in message or "method" not in message:
            return self.send(202)
        is_modern = MODERN in message.get("params", {}).get("_meta", {})
        if message["method"] == "initialize":
            session = str(uuid.uuid4())
            sessions.add(session)
            return self.send(200, replied(message), Content_Type="application/json", Mcp_Session_Id=session)
        if not is_modern and self.headers.get("Mcp-Session-Id") not in sessions:
            return self.send(404)
        time.sleep(delay(message))
        self.send(200, replied(message), Content_Type="application/json")

    def do_GET(self):
        self.send(405)

    def do_DELETE(self):
        sessions.discard(self.headers.get("Mcp-Session-Id"))
        self.send(200)


class Many(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def say(message):
    line = replied(message) + b"\n"
    with lock:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


def speak_stdio():
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if seconds := delay(message):
            timer = threading.Timer(seconds, say, [message])
            timer.daemon = True
            timer.start()
        else:
            say(message)


if sys.argv[2] == "stdio":
    speak_stdio()
else:
    Many(("127.0.0.1", int(sys.argv[3])), Streamable).serve_forever()
