import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/secret-text.ts';
import { startApi, testEncryptionKey } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { asOwner, freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

const another = Buffer.alloc(32, 8).toString('base64');
const secret = generateClientSecret();
const jwt = { token_format: 'jwt' };

describe('a start with an encryption key', () => {
  let database: TestDatabase;

  before(async () => {
    database = await freshDatabase();
  });
  after(() => database.drop());

  async function start(keys: string): Promise<TestApi | string> {
    return startApi({ database, environment: { BOXGATE_ENCRYPTION_KEY: keys } }).catch(String);
  }

  async function getsJwt(api: TestApi, box: string): Promise<boolean> {
    await api.declare(box, [
      { kind: 'Client', id: 'c', grant_types: ['client_credentials'], secret, auth: { client_credentials: jwt } },
    ]);
    const response = await fetch(`${api.url}/boxes/${box}/auth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`c:${secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    return response.ok;
  }

  /** Whether it starts, and signs JWTs of boxes with these names. */
  async function serves(keys: string, ...boxes: readonly string[]): Promise<boolean> {
    const api = await start(keys);
    if (typeof api === 'string') return false;
    try {
      for (const box of boxes) if (!(await getsJwt(api, box))) return false;
      return true;
    } finally {
      await api.stop();
    }
  }

  it('needs the one that sealed the signing keys, once there are some', async () => {
    expect(await serves(another), 'nothing is sealed yet').to.equal(true);
    expect(await serves(testEncryptionKey, 'first')).to.equal(true);
    expect(await start(another)).to.equal(
      'Error: BOXGATE_ENCRYPTION_KEY holds no key that opens the signing keys of this database',
    );
  });

  it('may be rotated: the new one first, the one that sealed behind it', async () => {
    expect(await serves(`${another},${testEncryptionKey}`, 'first', 'second')).to.equal(true);
    expect(await start(testEncryptionKey), 'the newest key was sealed with the new one').to.be.a('string');
    expect(await serves(`${testEncryptionKey},${another}`, 'first', 'second')).to.equal(true);
  });

  it('needs none of a signing key that signs no more', async () => {
    await asOwner(new URL(database.ownerUrl).pathname.slice(1), (owner) =>
      owner.query("UPDATE boxgate.signing_key SET retired_at = now() WHERE box = 'second'"),
    );
    expect(await serves(testEncryptionKey, 'first')).to.equal(true);
  });
});
