"""Runs a command at a terminal of its own, and types each text when what it waits for is there.

Usage: python3 terminal.py STEPS.json COMMAND…, where the steps are [{"wait": TEXT, "type": TEXT}, …].
Prints one line of JSON: what was seen, how many steps were done, and the exit code.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time
from pathlib import Path

PATIENCE = 100

steps = json.loads(Path(sys.argv[1]).read_text())
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
seen, done, at = "", 0, 0
deadline = time.monotonic() + PATIENCE
while time.monotonic() < deadline:
    if select.select([terminal], [], [], 0.2)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece.decode(errors="replace")
    if done < len(steps):
        found = seen.find(steps[done]["wait"], at)
        if found >= 0:
            at = found + len(steps[done]["wait"])
            os.write(terminal, steps[done]["type"].encode())
            done += 1
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
print(json.dumps({"seen": seen.replace("\r\n", "\n"), "done": done, "code": os.waitstatus_to_exitcode(status)}))
