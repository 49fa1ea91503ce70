import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
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

  /** Starts with these keys and gets a JWT in each of some boxes: what it came to. */
  async function outcome(keys: string, ...boxes: readonly string[]): Promise<string> {
    try {
      const api = await startApi({ database, environment: { BOXGATE_ENCRYPTION_KEY: keys } });
      const signed: boolean[] = [];
      for (const box of boxes) signed.push(await getsJwt(api, box));
      await api.stop();
      return signed.every(Boolean) ? 'serves' : 'signs nothing';
    } catch (error) {
      return String(error);
    }
  }

  const refused = 'Error: BOXGATE_ENCRYPTION_KEY holds no key that opens the signing keys of this database';

  it('needs the one that sealed the signing keys, once there are some', async () => {
    expect(await outcome(another), 'nothing is sealed yet').to.equal('serves');
    expect(await outcome(testEncryptionKey, 'first')).to.equal('serves');
    expect(await outcome(another)).to.equal(refused);
  });

  it('may be rotated: the new one first, the one that sealed behind it', async () => {
    expect(await outcome(`${another},${testEncryptionKey}`, 'first', 'second')).to.equal('serves');
    expect(await outcome(testEncryptionKey), 'the newest key was sealed with the new one').to.equal(refused);
    expect(await outcome(`${testEncryptionKey},${another}`, 'first', 'second')).to.equal('serves');
  });

  it('needs none of a signing key that signs no more', async () => {
    await asOwner(new URL(database.ownerUrl).pathname.slice(1), (owner) =>
      owner.query("UPDATE boxgate.signing_key SET retired_at = now() WHERE box = 'second'"),
    );
    expect(await outcome(testEncryptionKey, 'first')).to.equal('serves');
  });
});
