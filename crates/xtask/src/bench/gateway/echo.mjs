// An MCP server over streamable HTTP with as little of its own as there can be: what is measured is what stands before it.
import { createServer } from "node:http";

const [port, tools] = process.argv.slice(2).map(Number);
const named = (name) => ({
  name,
  description: `Says again what it is told (${name})`,
  inputSchema: { type: "object", properties: { text: { type: "string", maxLength: 1000 } }, required: ["text"] },
});
const list = Array.from({ length: tools }, (_, index) => named(index === 0 ? "echo" : `echo_${index}`));

const answer = ({ method, params }) => {
  switch (method) {
    case "initialize":
      return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "echo", version: "1" } };
    case "tools/list":
      return { tools: list };
    case "tools/call":
      return { content: [{ type: "text", text: params.arguments.text }] };
    case "ping":
      return {};
  }
};

const server = createServer((request, response) => {
  if (request.method !== "POST") {
    response.writeHead(405).end();
    return;
  }
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    const message = JSON.parse(body);
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const result = answer(message);
    const error = { code: -32601, message: "Method not found" };
    const text = JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(result ? { result } : { error }) });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(port, "127.0.0.1", () => console.error(`listening ${server.address().port}`));
