#!/usr/bin/env node
// A server of one tool, whose answer comes from a package of its own.

import { createInterface } from "node:readline";
import words from "weather-words";

const tool = {
  name: "tell_weather",
  description: "Tells the weather of a city.",
  inputSchema: { type: "object", properties: { city: { type: "string" } } },
};

function answer(method, parameters) {
  if (method === "initialize") {
    const serverInfo = { name: "weather", version: "1.0.0" };
    return { protocolVersion: parameters.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools: [tool] };
  if (method === "tools/call") return { content: [{ type: "text", text: words }] };
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) continue;
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answer(method, params ?? {}) }));
}
