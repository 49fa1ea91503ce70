/** Base URL in the committed document; each box replaces it by its own. */
export const EXAMPLE_ISSUER = 'https://auth.example.com/boxes/shop';

const created_at = '2026-01-31T09:00:00.000Z';
const user = { resourceType: 'User', id: '7' };
const client = { resourceType: 'Client', id: 'reporting' };
const session = '019c1a2b-3c4d-7e5f-8a6b-9c0d1e2f3a4b';

const submittedClient = {
  resourceType: 'Client',
  id: 'reporting',
  grant_types: ['client_credentials'],
  auth: { client_credentials: { token_format: 'jwt', access_token_expiration: 3600 } },
};
const policy = {
  resourceType: 'AccessPolicy',
  id: 'reporting-reads-users',
  engine: 'matcho',
  link: [client],
  matcho: { 'request-method': 'get', uri: '#^/users' },
};
const listedUser = {
  id: 7,
  email: 'ann@shop.example',
  data: '{"name":"Ann"}',
  status: null,
  'group-ids': [3],
  groups: [{ id: 3, name: 'editors', description: null }],
  created_at,
  updated_at: created_at,
};

/** Examples of each schema that has any; a test holds them to it. */
export const EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  Client: [{ ...submittedClient, created_at }],
  SubmittedClient: [{ ...submittedClient, secret: 'a long random text' }],
  AccessPolicy: [{ ...policy, created_at }],
  SubmittedAccessPolicy: [policy],
  Session: [
    {
      resourceType: 'Session',
      id: session,
      type: 'authorization_code',
      client: { resourceType: 'Client', id: 'shop-web' },
      user,
      scope: 'openid email',
      audience: null,
      active: true,
      status: 'active',
      created_at,
      expires_at: '2026-01-31T10:00:00.000Z',
      closed_at: null,
      parent: null,
      remote_addr: '192.0.2.7',
      user_agent: 'Mozilla/5.0',
    },
  ],
  Group: [{ resourceType: 'Group', id: 3, name: 'editors', description: null, created_at, members: 2 }],
  SubmittedGroup: [{ name: 'editors', description: 'Those who write articles' }],
  Grant: [
    {
      resourceType: 'Grant',
      id: '7.shop-web',
      user,
      client: { resourceType: 'Client', id: 'shop-web' },
      scope: 'openid email',
      consents: [{ redirect_uri: 'https://shop.example/back', audience: null, scope: 'openid email' }],
      created_at,
    },
  ],
  AuditEvent: [
    {
      resourceType: 'AuditEvent',
      id: session,
      created_at,
      box: 'shop',
      event: 'group.created',
      result: 'success',
      actor: { client },
      target: { resourceType: 'Group', id: '3' },
      request_id: 'c9f1a2b3d4e5-1',
      changed: ['name'],
      count: 1,
    },
  ],
  User: [{ ...listedUser, password: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA' }],
  ListedUser: [listedUser],
  NewUser: [{ email: 'ann@shop.example', password: 'correct horse battery' }],
  ChangedUser: [{ status: 'inactive' }],
  UserFaults: [{ entity: { email: 'ann@shop.example' }, errors: { email: ['is taken: another user has it'] } }],
  Question: [{ subject: { client: 'reporting' }, request: { 'request-method': 'get', uri: '/users' } }],
  Explanation: [
    {
      granted: true,
      policy: 'reporting-reads-users',
      candidates: [{ policy: 'reporting-reads-users', engine: 'matcho', granted: true }],
    },
  ],
  TokenResponse: [{ token_type: 'Bearer', access_token: 'bgt_…', expires_in: 3600 }],
  Introspection: [{ active: false }],
  OAuthError: [{ error: 'invalid_client', error_description: 'The client is unknown, or did not prove its identity' }],
  OperationOutcome: [
    {
      resourceType: 'OperationOutcome',
      id: 'c9f1a2b3d4e5-2',
      issue: [{ severity: 'error', code: 'not-found', diagnostics: 'There is no Client with this id' }],
    },
  ],
};
