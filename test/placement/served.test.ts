import { expect } from 'chai';
import { joinInstallation } from '../../api/db/core/installation.ts';
import { claimEpoch, startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

describe('boxes on several databases', () => {
  let home: TestDatabase;
  let eu: TestDatabase;
  let api: TestApi;

  before(async () => {
    [home, eu] = [await freshDatabase(), await freshDatabase()];
    await joinInstallation([
      { name: 'home', ownerUrl: home.ownerUrl },
      { name: 'eu', ownerUrl: eu.ownerUrl },
    ]);
    api = await startApi({
      database: home,
      environment: { BOXGATE_DATABASES: 'home,eu', BOXGATE_DATABASE_URL_EU: eu.apiUrl },
    });
  });
  after(async () => {
    await api.stop();
    await Promise.all([home.drop(), eu.drop()]);
  });

  /** Declares a client of a box whose Namespace wants a database; returns the last line of the answer. */
  async function declare(box: string, database?: string): Promise<unknown> {
    const epoch = await claimEpoch(api.managementUrl, api.managementKey, 'test');
    const owner = { name: `${box}/app`, uid: 'u' };
    const resource = { resourceType: 'Client', id: 'app', grant_types: ['client_credentials'], secret: 's'.repeat(32) };
    const lines = [
      { cluster: 'test', epoch, complete: false, database },
      { kind: 'Client', id: 'app', owner, digest: 'd', resource },
    ];
    const response = await fetch(`${api.managementUrl}/boxes/${box}/apply`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api.managementKey}` },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    });
    return JSON.parse((await response.text()).trim().split('\n').at(-1) ?? '');
  }

  async function issued(box: string): Promise<string> {
    const answer: unknown = await (await tokenOf(box)).json();
    return typeof answer === 'object' && answer !== null && 'access_token' in answer ? String(answer.access_token) : '';
  }

  const tokenOf = (box: string): Promise<Response> =>
    fetch(`${api.url}/boxes/${box}/auth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`app:${'s'.repeat(32)}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });

  it('serves a box from the database that its Namespace wants, and one without a wish from home', async () => {
    expect(await declare('far', 'eu')).to.include({ box: 'far', database: 'eu' });
    expect(await declare('near')).to.include({ box: 'near', database: 'home' });
    for (const box of ['far', 'near']) expect((await tokenOf(box)).status).to.equal(200);
  });

  it('refuses a wish for a database that there is not', async () => {
    expect(await declare('lost', 'us')).to.deep.equal({
      error: 'There is no database us; the databases are home, eu',
      code: 'unknown-database',
    });
  });

  async function move(box: string, database: string): Promise<unknown> {
    const epoch = await claimEpoch(api.managementUrl, api.managementKey, 'test');
    const response = await fetch(`${api.managementUrl}/boxes/${box}/move`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api.managementKey}` },
      body: JSON.stringify({ cluster: 'test', epoch, database }),
    });
    return response.json();
  }

  it('moves a box there and back: tokens issued before are valid after, and new ones are issued', async () => {
    await declare('moving');
    const tokens = [await issued('moving')];
    for (const database of ['eu', 'home', 'eu']) {
      expect(await move('moving', database)).to.deep.equal({ database, moved: true });
      tokens.push(await issued('moving'));
      for (const token of tokens) {
        const response = await fetch(`${api.url}/boxes/moving/auth/introspect`, {
          method: 'POST',
          headers: { Authorization: `Basic ${btoa(`app:${'s'.repeat(32)}`)}` },
          body: new URLSearchParams({ token }),
        });
        expect(await response.json()).to.include({ active: true });
      }
      expect(await declare('moving')).to.include({ database });
    }
  });
});
