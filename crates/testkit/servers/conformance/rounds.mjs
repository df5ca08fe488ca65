// Tools and a prompt that answer with a question, and are asked again with what came of it, as of 2026-07-28. In a session
// the SDK puts the question by itself.

const text = (words) => ({ content: [{ type: 'text', text: words }] });

export function rounds({ server, sdk, codec }) {
  const { inputRequired, inputResponse, acceptedContent } = sdk;
  const tool = (name, description, act) =>
    server.registerTool(name, { description, inputSchema: sdk.fromJsonSchema({ type: 'object' }) }, async (_, ctx) => act(ctx));

  const form = (message, name, type = 'string') =>
    inputRequired.elicit({
      message,
      requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] },
    });
  const said = (words, maxTokens) =>
    inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens });
  // What was answered to a form, if it is what was asked for.
  const answered = (ctx, key, name, type = 'string') => {
    const value = acceptedContent(ctx.mcpReq.inputResponses, key)?.[name];
    return typeof value === type ? value : undefined;
  };
  const got = (ctx, key) => inputResponse(ctx.mcpReq.inputResponses, key);

  tool('test_input_required_result_elicitation', 'Asks for a name', async (ctx) => {
    const name = answered(ctx, 'user_name', 'name');
    if (name !== undefined) return text(`Hello, ${name}!`);
    return inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } });
  });
  tool('test_streaming_elicitation', 'Asks for a name', async (ctx) => {
    const name = answered(ctx, 'user_name', 'name');
    if (name !== undefined) return text(`Hello, ${name}!`);
    return inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } });
  });
  tool('test_input_required_result_sampling', "Asks the client's model", async (ctx) => {
    const answer = got(ctx, 'capital_question');
    if (answer.kind === 'sampling') return text(`The model says: ${answer.result.content.text}`);
    return inputRequired({ inputRequests: { capital_question: said('What is the capital of France?', 100) } });
  });
  tool('test_missing_capability', "Cannot do without the client's model", async (ctx) => {
    const answer = got(ctx, 'thought');
    if (answer.kind === 'sampling') return text(`The model says: ${answer.result.content.text}`);
    return inputRequired({ inputRequests: { thought: said('What do you think?', 10) } });
  });
  tool('test_input_required_result_list_roots', 'Asks for roots', async (ctx) => {
    const answer = got(ctx, 'client_roots');
    if (answer.kind === 'roots') return text(`Roots: ${answer.roots.map((root) => root.uri).join(', ')}`);
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });

  // A state that nobody else can have written comes back as what was put into it.
  const confirmed = (word) => async (ctx) => {
    const state = ctx.mcpReq.requestState();
    const ok = answered(ctx, 'confirm', 'ok', 'boolean');
    if (state?.asked === word && ok !== undefined) return text(`${word}: ${ok}`);
    return inputRequired({
      inputRequests: { confirm: form('Please confirm', 'ok', 'boolean') },
      requestState: await codec.mint({ asked: word }, ctx),
    });
  };
  tool('test_input_required_result_request_state', 'Asks, and remembers', confirmed('state-ok'));
  tool('test_input_required_result_tampered_state', 'Asks, and remembers', confirmed('untouched'));

  tool('test_input_required_result_multiple_inputs', 'Asks three things', async (ctx) => {
    const name = answered(ctx, 'user_name', 'name');
    const [greeting, roots] = [got(ctx, 'greeting'), got(ctx, 'client_roots')];
    if (ctx.mcpReq.requestState()?.asked === 3 && name !== undefined && greeting.kind === 'sampling' && roots.kind === 'roots') {
      return text(`${greeting.result.content.text} ${name}, with ${roots.roots.length} roots`);
    }
    return inputRequired({
      inputRequests: {
        user_name: form('What is your name?', 'name'),
        greeting: said('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await codec.mint({ asked: 3 }, ctx),
    });
  });
  tool('test_input_required_result_multi_round', 'Asks twice', async (ctx) => {
    const state = ctx.mcpReq.requestState();
    if (state?.name !== undefined) {
      const color = answered(ctx, 'step2', 'color');
      if (color !== undefined) return text(`${state.name} likes ${color}`);
    }
    const name = state?.name ?? answered(ctx, 'step1', 'name');
    if (state !== undefined && name !== undefined) {
      return inputRequired({
        inputRequests: { step2: form('Step 2: What is your favorite color?', 'color') },
        requestState: await codec.mint({ name }, ctx),
      });
    }
    return inputRequired({
      inputRequests: { step1: form('Step 1: What is your name?', 'name') },
      requestState: await codec.mint({ round: 1 }, ctx),
    });
  });
  tool('test_input_required_result_capabilities', 'Asks what the client can be asked', async (ctx) => {
    const can = ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
    const inputRequests = {};
    if (can.sampling) inputRequests.thought = said('What do you think?', 10);
    if (can.elicitation) inputRequests.user_name = form('What is your name?', 'name');
    if (can.roots) inputRequests.client_roots = inputRequired.listRoots();
    const isAnswered = Object.keys(ctx.mcpReq.inputResponses ?? {}).length > 0;
    if (isAnswered || Object.keys(inputRequests).length === 0) return text('Nothing more to ask');
    return inputRequired({ inputRequests });
  });

  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for a context' }, async (ctx) => {
    const context = answered(ctx, 'user_context', 'context');
    if (context !== undefined) {
      return { messages: [{ role: 'user', content: { type: 'text', text: `Use this context: ${context}` } }] };
    }
    return inputRequired({ inputRequests: { user_context: form('What context should the prompt use?', 'context') } });
  });
}
