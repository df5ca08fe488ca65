"""Asks for URL with the key by the way that is named, and prints the answer."""

import asyncio
import os
import sys

way, url = sys.argv[1:]
headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}


def by_urllib():
    import urllib.request

    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20).read().decode()


def by_requests():
    import requests

    return requests.get(url, headers=headers, timeout=20).text


def by_httpx(http2=False):
    import httpx

    with httpx.Client(http2=http2, timeout=20) as client:
        return client.get(url, headers=headers).text


def by_httpx2():
    return by_httpx(True)


async def by_aiohttp():
    import aiohttp

    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return await answer.text()


async def by_websockets():
    import websockets

    place = url.replace("https:", "wss:")
    async with websockets.connect(place, additional_headers=headers, open_timeout=20) as socket:
        return await socket.recv()


answer = globals()["by_" + way]()
print(asyncio.run(answer) if asyncio.iscoroutine(answer) else answer)
