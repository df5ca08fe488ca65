// Tools that answer with each kind of content, report on their way, or fail.

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

const after = (ms) => new Promise((wake) => setTimeout(wake, ms));
const text = (words) => ({ content: [{ type: 'text', text: words }] });

// What a schema of 2020-12 may have, and a way through may lose.
const ADDRESS = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

export function contents({ server, sdk, spares, change }) {
  const tool = (name, description, act, inputSchema = { type: 'object' }) =>
    server.registerTool(name, { description, inputSchema: sdk.fromJsonSchema(inputSchema) }, act);

  tool('test_simple_text', 'Answers with text', async () => text('This is a simple text response for testing.'));
  tool('test_image_content', 'Answers with a picture', async () => ({
    content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
  }));
  tool('test_audio_content', 'Answers with sound', async () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  }));
  tool('test_embedded_resource', 'Answers with a resource', async () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }));
  tool('test_multiple_content_types', 'Answers with one of each', async () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  }));
  tool('test_error_handling', 'Fails', async () => {
    throw new Error('This tool intentionally returns an error for testing');
  });

  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    tool(name, 'Says what it does', async (_, ctx) => {
      await ctx.mcpReq.log('info', 'Tool execution started');
      await after(50);
      await ctx.mcpReq.log('info', 'Tool processing data');
      await after(50);
      await ctx.mcpReq.log('info', 'Tool execution completed');
      return text('Tool with logging executed successfully');
    });
  }
  tool('test_tool_with_progress', 'Says how far it is', async (_, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progress > 0) await after(50);
      if (progressToken === undefined) continue;
      const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` };
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
    }
    return text('Tool with progress executed successfully');
  });
  tool('test_reconnection', 'Ends its stream before it answers', async (_, ctx) => {
    await after(50);
    ctx.http?.closeSSE?.();
    await after(300);
    return text('Reconnection test completed');
  });

  tool('json_schema_2020_12_tool', 'Tool with JSON Schema 2020-12 features', async () => text('Fits'), ADDRESS);
  tool('test_custom_header', 'Has a parameter that a header repeats', async ({ region }) => text(`In ${region}`), {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
    required: ['region'],
  });

  for (const n of [1, 2, 3]) spares.tool.push(tool(`test_spare_tool_${n}`, 'Is there to go', async () => text('Here')));
  for (const kind of ['tool', 'prompt']) {
    tool(`test_trigger_${kind}_change`, `Changes the list of ${kind}s`, async () => {
      change(kind);
      return text(`The list of ${kind}s has changed`);
    });
  }
}
