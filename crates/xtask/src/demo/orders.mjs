// A shop's orders. It believes whatever user it is told, as such servers do.
import { createInterface } from "node:readline";

const orders = [
  { id: "ORD-100001", user_id: "alice", item: "a kettle", state: "shipped" },
  { id: "ORD-100002", user_id: "bob", item: "a lamp", state: "packed" },
];
const text = (name) => ({ type: "string", maxLength: 40, description: name });
const order = { type: "string", pattern: "^ORD-[0-9]{6,10}$", description: "The number of an order" };
const tool = (name, description, properties) => ({
  name,
  description,
  inputSchema: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
});
const tools = [
  tool("list_orders", "Lists the orders of a user.", { user_id: text("Whose orders") }),
  tool("get_order", "Shows one order of a user.", { user_id: text("Whose order"), order_id: order }),
  tool("issue_refund", "Pays the price of an order back.", { order_id: order }),
];

const call = ({ name, arguments: given }) => {
  const own = orders.filter((one) => one.user_id === given.user_id);
  switch (name) {
    case "list_orders":
      return own.map((one) => `${one.id}: ${one.item}, ${one.state}`).join("; ");
    case "get_order":
      return own.filter((one) => one.id === given.order_id).map((one) => `${one.item}, ${one.state}`)[0] ?? "no such order";
    case "issue_refund":
      return `refunded ${given.order_id}`;
  }
};

const answer = ({ method, params }) => {
  switch (method) {
    case "initialize":
      return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "orders", version: "1" } };
    case "tools/list":
      return { tools };
    case "tools/call":
      return { content: [{ type: "text", text: call(params) }] };
    case "ping":
      return {};
  }
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  const result = answer(message);
  const error = { code: -32601, message: "Method not found" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(result ? { result } : { error }) }));
});
