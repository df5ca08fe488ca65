"""Keeps twenty connections busy for a while: half of them to hosts that stay allowed, half to hosts that come and go.

Usage: python3 busy.py SECONDS ROOTS.pem. Says `ready`, begins when a line arrives on stdin, prints one line of JSON with
what became of every attempt, and ends with its stdin. Points in time are seconds since the epoch.
"""

import json
import random
import socket
import ssl
import sys
import threading
import time

# An answer that takes longer never comes.
PATIENCE = 15
BULK = 1 << 20
PIECES = 10

SECONDS, ROOTS = float(sys.argv[1]), sys.argv[2]
TLS = ssl.create_default_context(cafile=ROOTS)


class Wrong(Exception):
    """An answer that is not the one of the origin."""


class Line:
    """A connection on which each order of one line has an answer of a known size."""

    def __init__(self, host, tls):
        self.socket = socket.create_connection((host, 443 if tls else 5432), PATIENCE)
        if tls:
            self.socket = TLS.wrap_socket(self.socket, server_hostname=host)

    def ask(self, what):
        self.socket.sendall(what.encode() + b"\n")
        expected = {"bulk": BULK, "slow": PIECES}.get(what, len(what) + 1)
        self.take(expected)

    def take(self, expected):
        while expected > 0:
            got = self.socket.recv(min(expected, 1 << 16))
            if not got:
                raise Wrong("ended early")
            expected -= len(got)

    def close(self):
        self.socket.close()


class Web(Line):
    """The same over HTTP."""

    def __init__(self, host, _):
        self.host = host
        self.socket = socket.create_connection((host, 80), PATIENCE)
        self.file = self.socket.makefile("rb")

    def ask(self, what):
        self.socket.sendall(f"GET /{what} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
        status = self.file.readline()
        if not status:
            raise Wrong("ended early")
        if not status.startswith(b"HTTP/1.1 200 "):
            raise Wrong(status.decode().strip())
        length = None
        while (field := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = field.decode().partition(":")
            length = int(value) if name.lower() == "content-length" else length
        if length is not None:
            self.read(length)
            return
        while size := int(self.file.readline() or b"x", 16):
            self.read(size + 2)
        self.read(2)

    def read(self, count):
        if len(self.file.read(count)) < count:
            raise Wrong("ended early")


# Connection, host, order, and after how many answers it is closed.
KINDS = [
    (Web, "http", "small", 1000),
    (Web, "http", "small", 50),
    (Web, "http", "small", 1),
    (Web, "http", "slow", 3),
    (Line, "tls", "hello", 1000),
    (Line, "tls", "hello", 5),
    (Line, "tls", "bulk", 2),
    (Line, "raw", "hello", 1000000),
    (Line, "raw", "bulk", 10),
    (Line, "raw", "slow", 3),
]


class Worker(threading.Thread):
    def __init__(self, kind, fate):
        super().__init__(daemon=True)
        self.make, self.port, self.order, self.turns = kind
        self.host = f"{self.port}.{fate}.example"
        self.answered, self.failed = [], []

    def run(self):
        begun.wait()
        while time.time() < deadline:
            self.connection()

    def connection(self):
        # What ends an idle connection came at some time since its last answer.
        quiet, line = time.time(), None
        try:
            line = self.make(self.host, self.port == "tls")
            for _ in range(self.turns):
                sent = time.time()
                if sent >= deadline:
                    return
                line.ask(self.order)
                quiet = time.time()
                self.answered.append((sent, quiet))
                time.sleep(random.uniform(0.02, 0.1))
        except (OSError, ValueError, Wrong) as error:
            self.failed.append((quiet, time.time(), f"{type(error).__name__}: {error}"))
            time.sleep(0.05)
        finally:
            if line:
                line.close()

    def report(self):
        return {
            "host": self.host,
            "order": self.order,
            "answered": self.answered,
            "failed": self.failed,
            "stuck": self.is_alive(),
        }


begun, deadline = threading.Event(), 0
workers = [Worker(kind, fate) for fate in ("stays", "goes") for kind in KINDS]
for worker in workers:
    worker.start()
print("ready", flush=True)
sys.stdin.readline()
deadline = time.time() + SECONDS
begun.set()
# Whoever waits for an answer in the end has as long as any other.
last = deadline + 2 * PATIENCE
for worker in workers:
    worker.join(max(0, last - time.time()))
print(json.dumps([worker.report() for worker in workers]), flush=True)
sys.stdin.read()
