// Tools that ask the client something while they work, as of 2025-11-25. They are listed in both eras: what a server offers
// is one thing.

const text = (words) => ({ content: [{ type: 'text', text: words }] });

export function questions({ server, sdk }) {
  const tool = (name, description, properties, act) => {
    const inputSchema = { type: 'object', properties, required: Object.keys(properties) };
    server.registerTool(name, { description, inputSchema: sdk.fromJsonSchema(inputSchema) }, act);
  };
  const form = async (ctx, message, properties, required) =>
    ctx.mcpReq.elicitInput({ message, requestedSchema: { type: 'object', properties, required } });
  const completed = ({ action, content }) =>
    text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);

  tool('test_sampling', 'Has the client ask its model', { prompt: { type: 'string' } }, async ({ prompt }, ctx) => {
    const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
    const { content } = await ctx.mcpReq.requestSampling({ messages, maxTokens: 100 });
    return text(`LLM response: ${content.text ?? JSON.stringify(content)}`);
  });
  tool('test_elicitation', 'Asks whoever uses the client', { message: { type: 'string' } }, async ({ message }, ctx) => {
    const properties = {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    };
    const { action, content } = await form(ctx, message, properties, ['username', 'email']);
    return text(`User response: action: ${action}, content: ${JSON.stringify(content ?? {})}`);
  });
  tool('test_elicitation_sep1034_defaults', 'Asks with an answer for each kind of value', {}, async (_, ctx) =>
    completed(
      await form(ctx, 'Please review and update the form fields with defaults', {
        name: { type: 'string', description: 'User name', default: 'John Doe' },
        age: { type: 'integer', description: 'User age', default: 30 },
        score: { type: 'number', description: 'User score', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', description: 'Verification status', default: true },
      }),
    ),
  );
  const titled = (one) => ['First', 'Second', 'Third'].map((th, n) => ({ const: `value${n + 1}`, title: `${th} ${one}` }));
  const plain = ['option1', 'option2', 'option3'];
  tool('test_elicitation_sep1330_enums', 'Asks with each kind of choice', {}, async (_, ctx) =>
    completed(
      await form(ctx, 'Please select options from the enum fields', {
        untitledSingle: { type: 'string', description: 'Select one option', enum: plain },
        titledSingle: { type: 'string', description: 'Select one option', oneOf: titled('Option') },
        legacyEnum: {
          type: 'string',
          description: 'Select one option',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: {
          type: 'array',
          description: 'Select options',
          minItems: 1,
          maxItems: 3,
          items: { type: 'string', enum: plain },
        },
        titledMulti: {
          type: 'array',
          description: 'Select options',
          minItems: 1,
          maxItems: 3,
          items: { anyOf: titled('Choice') },
        },
      }),
    ),
  );
}
