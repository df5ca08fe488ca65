"""An MCP server by stdio, by streamable HTTP (sessions, and revision 2026-07-28 without), or by HTTP with SSE.

Usage: python3 mcp_server.py stdio | http PORT [SECONDS] | sse PORT [ENDPOINT], SECONDS being how late it listens.
"""

import json
import os
import queue
import ssl
import sys
import threading
import time
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOOLS = ["whoami", "write", "read", "fetch", "die", "big", "print", "forget", "slow", "headers"]
MODERN = "io.modelcontextprotocol/protocolVersion"
NOTES = Path("/data/notes")
sessions = set()
cancelled = threading.Event()


def tool(name):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    if name == "headers":
        schema["properties"]["text"]["x-mcp-header"] = "Text"
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema}


def fetch():
    request = urllib.request.Request("https://api.github.com/user")
    request.add_header("Authorization", "Bearer " + os.environ["TOKEN"])
    with urllib.request.urlopen(request, timeout=20, context=ssl.create_default_context()) as answer:
        return str(answer.status)


def call(name, arguments, headers):
    text = arguments.get("text", "")
    if name == "whoami":
        return os.environ.get("TOKEN", "nobody")
    if name == "write":
        NOTES.write_text(text)
        return "written"
    if name == "read":
        return NOTES.read_text() if NOTES.exists() else "nothing"
    if name == "fetch":
        return fetch()
    if name == "die":
        os._exit(3)
    if name == "big":
        return "x" * (17 << 20)
    if name == "print":
        print("something that is no message", flush=True)
        return "printed"
    if name == "forget":
        sessions.clear()
        return "forgotten"
    if name == "slow":
        cancelled.wait(30)
        return "late"
    return json.dumps(headers)


def answer(message, headers):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fixture", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [tool(name) for name in TOOLS]}
    if method == "tools/call":
        text = call(params["name"], params.get("arguments", {}), headers)
        return {"content": [{"type": "text", "text": text}]}
    return {}


def replied(message, headers):
    return {"jsonrpc": "2.0", "id": message["id"], "result": answer(message, headers)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        print("asked", self.command, self.path, flush=True)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def send(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, data, kind=None):
        named = f"event: {kind}\n" if kind else ""
        self.wfile.write(f"{named}data: {data}\n\n".encode())
        self.wfile.flush()


class Streamable(Handler):
    def do_POST(self):
        message = json.loads(self.body())
        if self.path != "/mcp":
            return self.send(404)
        said = {name.lower(): value for name, value in self.headers.items()}
        if "id" not in message or "method" not in message:
            return self.send(202)
        params = message.get("params", {})
        if params.get("_meta", {}).get(MODERN):
            return self.modern(message, said)
        if message["method"] == "initialize":
            session = str(uuid.uuid4())
            sessions.add(session)
            body = json.dumps(replied(message, said)).encode()
            return self.send(200, body, Content_Type="application/json", Mcp_Session_Id=session)
        if said.get("mcp-session-id") not in sessions:
            return self.send(404, b"no such session")
        self.stream()
        self.event(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "soon"}}))
        self.event(json.dumps(replied(message, said)))

    def modern(self, message, said):
        name = message["params"].get("name")
        if said.get("mcp-method") != message["method"] or (name and said.get("mcp-name") != name):
            error = {"code": -32020, "message": "headers say something else"}
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode()
            return self.send(400, body, Content_Type="application/json")
        if name == "slow":
            # Whoever takes the question back closes the stream.
            self.stream()
            try:
                for _ in range(600):
                    self.wfile.write(b": waiting\n\n")
                    self.wfile.flush()
                    time.sleep(0.05)
            except OSError:
                print("the stream was closed", flush=True)
            return None
        body = json.dumps(replied(message, said)).encode()
        return self.send(200, body, Content_Type="application/json")

    def do_GET(self):
        if self.path != "/mcp" or self.headers.get("Mcp-Session-Id") not in sessions:
            return self.send(405)
        self.stream()
        self.event(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        while self.headers.get("Mcp-Session-Id") in sessions:
            time.sleep(0.05)

    def do_DELETE(self):
        sessions.discard(self.headers.get("Mcp-Session-Id"))
        print("the session was ended", flush=True)
        self.send(200)


class Old(Handler):
    streams = {}
    endpoint = "/messages?session={}"

    def do_GET(self):
        if self.path != "/sse":
            return self.send(404)
        name, messages = str(uuid.uuid4()), queue.Queue()
        self.streams[name] = messages
        self.stream()
        self.event(self.endpoint.format(name), "endpoint")
        while (message := messages.get()) is not None:
            self.event(json.dumps(message), "message")

    def do_POST(self):
        message = json.loads(self.body())
        if not self.path.startswith("/messages"):
            return self.send(404 if self.path != "/sse" else 405)
        messages = self.streams[self.path.partition("session=")[2]]
        self.send(202, b"Accepted")
        if "id" in message and "method" in message:
            messages.put(replied(message, {}))
            if message.get("params", {}).get("name") == "forget":
                messages.put(None)


def speak_stdio():
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "notifications/cancelled":
            cancelled.set()
        if "id" in message and "method" in message:
            print(json.dumps(replied(message, {})), flush=True)


if sys.argv[1] == "stdio":
    speak_stdio()
elif sys.argv[1] == "http":
    time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Streamable).serve_forever()
else:
    Old.endpoint = sys.argv[3] if len(sys.argv) > 3 else Old.endpoint
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Old).serve_forever()
