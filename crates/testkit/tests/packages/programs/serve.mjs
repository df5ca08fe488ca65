#!/usr/bin/env node
// The least of a server over stdio: one tool, which says what its package found out about itself.

import { createInterface } from "node:readline";
import { facts } from "./facts.mjs";

const tool = { name: "facts", description: "Says what the package found.", inputSchema: { type: "object" } };

async function answer(method, parameters) {
  if (method === "initialize") {
    const serverInfo = { name: "probe", version: "1" };
    return { protocolVersion: parameters.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools: [tool] };
  if (method === "tools/call") return { content: [{ type: "text", text: JSON.stringify(await facts()) }] };
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (!("id" in message && "method" in message)) continue;
  const result = await answer(message.method, message.params ?? {});
  console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
}
