import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import express from 'express';
import { expressMessages } from '../../../api/http/server/router.ts';
import { listen } from '../../../api/http/server/server.ts';

describe('messages of express', () => {
  let server: Server;
  let url: string;
  const unchanged: boolean[] = [];

  before(async () => {
    const app = express();
    const messages = expressMessages(app);
    app.use((request, response) => {
      response.status(201).json({ host: request.hostname, accept: request.get('accept') });
    });
    server = createServer(messages, (request: IncomingMessage, response: ServerResponse) => {
      const before = [request, response].map((message): unknown => Object.getPrototypeOf(message));
      app(request, response);
      const after = [request, response].map((message): unknown => Object.getPrototypeOf(message));
      unchanged.push(before[0] === after[0] && before[1] === after[1]);
    });
    url = `http://127.0.0.1:${String(await listen(server, '127.0.0.1', 0))}`;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('have what express adds', async () => {
    const answer = await fetch(url, { headers: { accept: 'application/json' } });
    expect(answer.status).to.equal(201);
    expect(await answer.json()).to.deep.equal({ host: '127.0.0.1', accept: 'application/json' });
  });

  it('keep their prototypes in the application', async () => {
    unchanged.length = 0;
    await (await fetch(url)).text();
    expect(unchanged).to.deep.equal([true]);
  });
});
