import { expect } from 'chai';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  mcpAuthMetadataRouter,
  getOAuthProtectedResourceMetadataUrl,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { OAuthMetadataSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { OAuthMetadata, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import express from 'express';
import { isObject } from '../../crds/path.ts';
import { eventually } from '../support/eventually.ts';
import { withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { newVisitor } from './visitor.ts';

const secret = 'a secret of the server';
const redirectUrl = 'http://127.0.0.1:8976/callback';

describe('an MCP server and its client, with the MCP SDK', () => {
  let box: HttpsBox;
  let metadata: OAuthMetadata;
  let url: URL;

  withHttpsBox((started) => (box = started));
  before(async () => {
    const response = await fetch(`${box.issuer}/.well-known/oauth-authorization-server`);
    metadata = OAuthMetadataSchema.parse(await response.json());
    url = new URL('/mcp', await box.serve((at) => createServer(new URL('/mcp', at))));
    const settings = { redirect_uri: redirectUrl, audience: [url.href], access_token_expiration: 5 };
    await box.api.declare('default', [
      { kind: 'Client', id: 'mcp-server', grant_types: [], secret },
      {
        kind: 'Client',
        id: 'editor',
        name: 'Editor',
        grant_types: ['authorization_code'],
        scope: ['tools', 'offline_access'],
        auth: { authorization_code: { ...settings, refresh_token: true } },
      },
    ]);
  });

  /** Serves the tool `whoami` to the tokens that Boxgate has issued for this server. */
  function createServer(resource: URL): express.Express {
    const routes = express();
    routes.use(mcpAuthMetadataRouter({ oauthMetadata: metadata, resourceServerUrl: resource }));
    const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
    const verifier = { verifyAccessToken: introspect };
    const bearer = requireBearerAuth({
      verifier,
      requiredScopes: ['tools'],
      resourceMetadataUrl,
      expectedResource: resource,
    });
    routes.post('/mcp', bearer, express.json(), async (request, response) => {
      const server = new McpServer({ name: 'people', version: '1.0.0' });
      server.registerTool('whoami', { description: 'Tells whose token it is.' }, () => ({
        content: [{ type: 'text', text: String(request.auth?.extra?.['sub']) }],
      }));
      const transport = new StreamableHTTPServerTransport({});
      await server.connect(transport);
      await transport.handleRequest(request, response, request.body);
    });
    routes.get('/mcp', bearer, (_request, response) => void response.sendStatus(405));
    return routes;
  }

  async function introspect(token: string) {
    const body = new URLSearchParams({ client_id: 'mcp-server', client_secret: secret, token });
    const response = await fetch(metadata.introspection_endpoint ?? '', { method: 'POST', body });
    const told: unknown = await response.json();
    if (!isObject(told) || told['active'] !== true) throw new InvalidTokenError('The token is not active.');
    const { client_id, scope, exp, aud, sub } = told;
    const scopes = String(scope).split(' ');
    const resource = new URL(String(aud));
    return { token, clientId: String(client_id), scopes, expiresAt: Number(exp), resource, extra: { sub } };
  }

  it('finds Boxgate, signs a person in and renews its token', async () => {
    const provider = createProvider();
    const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
    const refused: unknown = await new Client({ name: 'editor', version: '1' })
      .connect(transport)
      .catch((e: unknown) => e);
    expect(refused).to.be.instanceOf(UnauthorizedError);
    expect(provider.sentTo?.href).to.match(new RegExp(`^${box.issuer}/auth/authorize\\?`));
    const { url: back } = await newVisitor().visit(provider.sentTo ?? '', ({ href }) => href.startsWith(redirectUrl));
    await transport.finishAuth(back.searchParams.get('code') ?? '');

    const client = new Client({ name: 'editor', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
    const whoami = async () => (await client.callTool({ name: 'whoami' })).content;
    const person = [{ type: 'text', text: box.user }];
    expect(await whoami()).to.deep.equal(person);
    const first = provider.stored?.access_token;
    await eventually('the token has expired', async () => (await introspect(first ?? '').catch(() => null)) === null);
    expect(await whoami()).to.deep.equal(person);
    expect(provider.stored?.access_token).not.to.be.oneOf([undefined, first]);
    await client.close();
  });
});

interface Provider extends OAuthClientProvider {
  /** Address that the SDK sent the person to. */
  readonly sentTo: URL | undefined;
  readonly stored: OAuthTokens | undefined;
}

/** Creates what an editor has to keep: its client ID is in its settings, so it registers nowhere. */
function createProvider(): Provider {
  let sentTo: URL | undefined;
  let stored: OAuthTokens | undefined;
  let verifier = '';
  return {
    redirectUrl,
    clientMetadata: { client_name: 'Editor', redirect_uris: [redirectUrl] },
    clientInformation: () => ({ client_id: 'editor' }),
    tokens: () => stored,
    saveTokens: (tokens) => void (stored = tokens),
    redirectToAuthorization: (address) => void (sentTo = address),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    get sentTo() {
      return sentTo;
    },
    get stored() {
      return stored;
    },
  };
}
