"""Lists the tools of a server with the official Python client and calls some of them.

Usage: python call.py JOB.json. The job and the printed line are those of call.mjs. With `handshake` it begins by
`initialize`, which call.mjs always does.
"""

import asyncio
import contextlib
import json
import sys
from pathlib import Path

from mcp import StdioServerParameters, stdio_client
from mcp.client import Client
from mcp.types import Implementation, ToolListChangedNotification

# Packages may have to be fetched before the first answer.
PATIENCE = 100


def way(job: dict):
    if "url" in job:
        return job["url"]
    program, *arguments = job["command"]
    return stdio_client(StdioServerParameters(command=program, args=arguments, env=job["env"]))


async def tools_of(client: Client) -> list[dict]:
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += [{"name": tool.name, "description": tool.description} for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def main(job: dict) -> None:
    info = Implementation(name="fumehood-test", version="1")
    changed = asyncio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    mode = "legacy" if "handshake" in job else "auto"
    async with Client(
        way(job), mode=mode, client_info=info, read_timeout_seconds=PATIENCE, message_handler=hear
    ) as client:
        tools = await tools_of(client)
        if "waits" in job:
            first = {tool["name"] for tool in tools}
            # In the newest revision, whoever wants to hear of changes says so.
            listens = client.protocol_version >= "2026"
            async with client.listen(tools_list_changed=True) if listens else contextlib.nullcontext() as stream:
                Path(job["waits"]).write_text(json.dumps(tools))
                while all(tool["name"] in first for tool in tools):
                    if listens:
                        await anext(aiter(stream))
                    else:
                        await changed.wait()
                        changed.clear()
                    tools = await tools_of(client)
        results = [await client.call_tool(call["name"], call["arguments"]) for call in job["calls"]]
        told = {
            "server": client.server_info.name,
            "tools": tools,
            "results": [result.model_dump(mode="json", by_alias=True, exclude_none=True) for result in results],
        }
        print(json.dumps(told), flush=True)


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
