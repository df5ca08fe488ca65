"""Speaks over stdio with a server as the official Python client (2.x) does, and waits for its list to change.

Usage: python eras.py JOB.json. The job and the printed line are those of eras.mjs.
"""

import asyncio
import json
import sys
from pathlib import Path

from mcp import MCPError, StdioServerParameters, stdio_client
from mcp.client import Client
from mcp.types import Implementation, ToolListChangedNotification


async def main(job: dict) -> None:
    info = Implementation(name="fumehood-test", version="2")
    changed = asyncio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    program, *arguments = job["command"]
    way = stdio_client(StdioServerParameters(command=program, args=arguments, env=job["env"]))
    async with Client(way, mode=job["mode"], client_info=info, message_handler=hear) as client:

        async def names() -> list[str]:
            return [tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools]

        async def server() -> str:
            # One that is told of the revision beforehand asks nothing before its first request.
            if client.server_info is not None:
                return client.server_info.name
            told = (await client.list_tools(cache_mode="refresh")).meta
            return told["io.modelcontextprotocol/serverInfo"]["name"]

        async def others(first: list[str]) -> list[str]:
            """Its tools, once they are others; it is looked whenever something is said to have changed."""
            if client.protocol_version < "2026":
                Path(job["listed"]).touch()
                while (tools := await names()) == first:
                    await changed.wait()
                    changed.clear()
                return tools
            async with client.listen(tools_list_changed=True) as stream:
                Path(job["listed"]).touch()
                async for _ in stream:
                    if (tools := await names()) != first:
                        return tools
            return first

        told = {
            "version": client.protocol_version,
            "server": await server(),
            "tools": await names(),
            "texts": [],
        }
        for call in job["calls"]:
            result = await client.call_tool(call["name"], call["arguments"])
            told["texts"].append(result.content[0].text)
        try:
            await client.call_tool("nobodys", {})
            told["unknown"] = "not refused"
        except MCPError as error:
            told["unknown"] = error.error.message
        if "changes" in job:
            told["then"] = await others(told["tools"])
        print(json.dumps(told), flush=True)


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
