import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { isObject, parseJson } from '../../crds/path.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { getStatus, isActive, tokenOf } from './box-requests.ts';
import { runBoxgate } from './boxgate-process.ts';
import { anyPorts, startDev, urlsOf } from './dev-process.ts';
import type { DevProcess } from './dev-process.ts';
import { clientYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

const resourceServer = `apiVersion: boxgate.dev/v1
kind: Client
metadata:
  name: orders-api
  labels:
    app.kubernetes.io/part-of: shop
spec:
  name: Orders API
  grant_types: []
`;

const publicClient = `apiVersion: boxgate.dev/v1
kind: Client
metadata:
  name: single-page-app
spec:
  grant_types:
    - authorization_code
  auth:
    authorization_code:
      redirect_uris:
        - https://shop.example.com/callback
        - https://staging.shop.example.com/callback
`;

const refreshing = `apiVersion: boxgate.dev/v1
kind: Client
metadata:
  name: refreshing
spec:
  grant_types: [client_credentials, refresh_token]
`;

describe('clients as people write them, in boxgate dev', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;
  let dev: DevProcess;

  before(async () => {
    folder = temporaryFolder();
    database = await freshDatabase();
    folder.write('orders-api.yaml', resourceServer);
    folder.write('app.yaml', publicClient);
    folder.write('refreshing.yaml', refreshing);
    folder.write('machine.yaml', clientYaml('machine', '  secret: secret-of-the-machine\n'));
    dev = await startDev(folder.root, urlsOf(database));
  });
  after(async () => {
    await dev.boxgate.end();
    folder.remove();
    await database.drop();
  });

  const box = (): string => `${dev.url}/boxes/default`;

  /** Row of an object in the printed table. */
  async function row(name: string): Promise<string> {
    const [line] = await dev.boxgate.said(new RegExp(`^default +client\\.boxgate\\.dev/${name} .*$`, 'm'));
    return line.replaceAll(/ {2,}/g, ' | ');
  }

  function secretOf(client: string): string {
    const kept = parseJson(readFileSync(folder.path('.boxgate/secrets/default', `${client}.json`), 'utf8'));
    return isObject(kept) ? String(kept['client_secret']) : '';
  }

  it('says of a public client that it has no secret', async () => {
    expect(await row('single-page-app')).to.equal(
      'default | client.boxgate.dev/single-page-app | single-page-app | authorization_code | none (public) | 0 | True | Ready',
    );
  });

  it('says of refresh_token in grant_types that it has no effect, and what to do', async () => {
    expect(await row('refreshing')).to.match(/ \| True \| RefreshNotEnabled$/);
    await dev.boxgate.said(
      /refreshing\.yaml:1: refresh_token in spec\.grant_types has no effect: .*\. Set refresh_token: true in /,
    );
  });

  describe('C-02 a resource server without a grant', () => {
    it('is Ready, with a secret of its own', async () => {
      expect(await row('orders-api')).to.equal(
        'default | client.boxgate.dev/orders-api | orders-api | none | generated | 0 | True | Ready',
      );
      expect(secretOf('orders-api')).to.match(/^bgs_/);
      expect(dev.boxgate.stdout).not.to.contain('A token for orders-api');
    });

    it('introspects the tokens of others', async () => {
      const token = await tokenOf(box(), 'machine', 'secret-of-the-machine');
      expect(await isActive(box(), token, 'orders-api', secretOf('orders-api'))).to.equal(true);
    });

    for (const grant_type of ['client_credentials', 'password', 'authorization_code']) {
      it(`gets no token by ${grant_type}`, async () => {
        const body = { grant_type, client_id: 'orders-api', client_secret: secretOf('orders-api') };
        const others = { code: 'x', redirect_uri: 'https://app.example/', username: 'a@b.example', password: 'x' };
        const response = await fetch(`${box()}/auth/token`, {
          method: 'POST',
          body: new URLSearchParams({ ...body, ...others }),
        });
        expect(response.status).to.equal(400);
        expect(await response.json()).to.include({ error: 'unauthorized_client' });
      });
    }

    it('is not let into the endpoints of its box by its secret', async () => {
      expect(await getStatus(box(), '/Client', secretOf('orders-api'))).to.equal(401);
    });
  });
});

/** Manifests with the mistakes that people bring from other products. */
const misspelled = `apiVersion: boxgate.dev/v1
kind: Client
metadata:
  name: web
spec:
  clientId: web
  secert: canary-of-a-secret
  grantTypes: [authorization_code]
  auth:
    authorization_code:
      redirectUris:
        - https://shop.example.com/callback
---
apiVersion: boxgate.dev/v1
kind: Client
metadata:
  name: worker
spec:
  grant_types:
    - client_credential
---
apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata:
  name: worker-reads
spec:
  engine: cel
  expression: request_methd == "get"
  link:
    - kind: Client
      id: worker
`;

const lines = [
  '6: spec.clientId is not a known field. Did you mean `id`?',
  '7: spec.secert is not a known field. Did you mean `secret`?',
  '8: spec.grantTypes is not a known field. Did you mean `grant_types`?',
  '12: spec.auth.authorization_code.redirectUris is not a known field. Did you mean `redirect_uris`?',
  '20: spec.grant_types[0] is not a known grant: `client_credential`. Did you mean `client_credentials`?',
  '30: spec.link[0].kind is not a known field. Did you mean `resourceType`?',
];

describe('misspelled manifests, in boxgate dev --once', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;

  beforeEach(async () => {
    folder = temporaryFolder();
    database = await freshDatabase();
  });
  afterEach(async () => {
    folder.remove();
    await database.drop();
  });

  const once = () => runBoxgate(['dev', folder.root, '--once', ...urlsOf(database), ...anyPorts]);

  it('are told with file, line and the name that may be meant; no value of a misspelled field is shown', async () => {
    folder.write('shop.yaml', misspelled);
    const { code, stdout, stderr } = await once();
    expect(code).to.equal(1);
    // The folder is named as from the working directory.
    const told = stdout.split('\n').map((line) => line.replace(/^ .*[/](?=shop\.yaml:)/, ''));
    for (const line of lines) expect(told).to.include(`shop.yaml:${line}`);
    expect(stdout + stderr).not.to.contain('canary-of-a-secret');
  });

  it('have a kind that may be meant', async () => {
    folder.write('shop.yaml', misspelled.replace('kind: AccessPolicy', 'kind: AccesPolicy'));
    const { code, stdout, stderr } = await once();
    expect(code).to.equal(1);
    expect(stdout + stderr).to.contain(
      'shop.yaml:22: cannot be read: kind must be one of Box, Client, AccessPolicy, Group. Did you mean `AccessPolicy`? What was there',
    );
  });
});
