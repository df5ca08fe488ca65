"""Runs a scenario with the official Python client and keeps every line that crossed the pipes.

Usage: python record.py JOB.json. The job and the printed line are those of record.mjs.
"""

import asyncio
import json
import sys
from pathlib import Path

from mcp import StdioServerParameters, stdio_client
from mcp.client import Client
from mcp.types import Implementation

# The shell's own pipes are between client and server, so what is kept is what went over the wire.
WIRE = 'sent=$1; received=$2; shift 2; tee "$sent" | "$@" | tee "$received"'


async def list_all(client: Client, kind: str) -> str:
    page = {
        "tools": client.list_tools,
        "prompts": client.list_prompts,
        "resources": client.list_resources,
        "templates": client.list_resource_templates,
    }[kind]
    cursor = None
    while True:
        cursor = (await page(cursor=cursor)).next_cursor
        if cursor is None:
            return "listed"


async def perform(client: Client, step: dict) -> str:
    arguments = step.get("arguments")
    if "list" in step:
        return await list_all(client, step["list"])
    if "prompt" in step:
        await client.get_prompt(step["prompt"], arguments)
        return "prompt"
    if "read" in step:
        await client.read_resource(step["read"])
        return "read"
    result = await client.call_tool(step["call"], arguments)
    return "tool-error" if result.is_error else "ok"


async def main(job: dict) -> None:
    server = StdioServerParameters(
        command="sh",
        args=["-c", WIRE, "sh", job["sent"], job["received"], *job["command"]],
        env=job["env"],
    )
    info = Implementation(name="fumehood-test", version="1")
    async with Client(stdio_client(server), client_info=info) as client:
        outcomes = [await perform(client, step) for step in job["steps"]]
        print(json.dumps({"server": client.server_info.name, "outcomes": outcomes}), flush=True)


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
