// Resources, prompts, and what completes them.

import { PNG } from './contents.mjs';

export function offers({ server, sdk, era, spares }) {
  const read = (uri, mimeType, content) => ({ contents: [{ uri, mimeType, ...content }] });
  server.registerResource(
    'static-text',
    'test://static-text',
    { description: 'A text', mimeType: 'text/plain' },
    async (uri) => read(uri.href, 'text/plain', { text: 'This is the content of the static text resource.' }),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { description: 'A picture', mimeType: 'image/png' },
    async (uri) => read(uri.href, 'image/png', { blob: PNG }),
  );
  server.registerResource(
    'watched-resource',
    'test://watched-resource',
    { description: 'Something to be told about', mimeType: 'text/plain' },
    async (uri) => read(uri.href, 'text/plain', { text: 'Watched resource content.' }),
  );
  server.registerResource(
    'template',
    new sdk.ResourceTemplate('test://template/{id}/data', { list: undefined, complete: { id: () => ['123', '456'] } }),
    { description: 'Something for each id', mimeType: 'application/json' },
    async (uri, { id }) => {
      const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return read(uri.href, 'application/json', { text: data });
    },
  );
  if (era === 'legacy') {
    const watched = new Set();
    server.server.setRequestHandler('resources/subscribe', async ({ params }) => {
      watched.add(params.uri);
      return {};
    });
    server.server.setRequestHandler('resources/unsubscribe', async ({ params }) => {
      watched.delete(params.uri);
      return {};
    });
  }

  const words = (text) => ({ role: 'user', content: { type: 'text', text } });
  const strings = (...names) => {
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    return sdk.fromJsonSchema({ type: 'object', properties, required: names });
  };
  server.registerPrompt('test_simple_prompt', { description: 'A prompt' }, async () => ({
    messages: [words('This is a simple prompt for testing.')],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'A prompt with two arguments', argsSchema: strings('arg1', 'arg2') },
    async ({ arg1, arg2 }) => ({ messages: [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource in it', argsSchema: strings('resourceUri') },
    async ({ resourceUri: uri }) => {
      const resource = { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' };
      const embedded = { role: 'user', content: { type: 'resource', resource } };
      return { messages: [embedded, words('Please process the embedded resource above.')] };
    },
  );
  for (const n of [1, 2, 3]) {
    const here = async () => ({ messages: [words('Here')] });
    spares.prompt.push(server.registerPrompt(`test_spare_prompt_${n}`, { description: 'Is there to go' }, here));
  }
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with a picture in it' }, async () => {
    const picture = { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } };
    return { messages: [picture, words('Please analyze the image above.')] };
  });

  server.server.setRequestHandler('completion/complete', async ({ params }) => {
    const values = ['paris', 'park', 'party'].filter((word) => word.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
}
