import { createHash, randomBytes } from 'node:crypto';
import { createHashQueue } from '../../api/credentials/hash-queue.ts';
import { createPasswords } from '../../api/credentials/password.ts';
import { newBrowser, type Browser } from '../../test/http/pages/browser.ts';
import type { Boxgate } from './boxgate.ts';
import type { BenchContext } from './context.ts';
import type { StoredPassword } from '../../api/db/user.ts';

/** Password of all people. */
const PASSWORD = 'a long enough passphrase';
/** Redirect URI of the clients that people use. */
export const BACK = 'https://app.example/back';

/** PKCE verifier of every code (RFC 7636 §4.1). */
export const VERIFIER = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(VERIFIER).digest('base64url');

/** Starts a Boxgate of this name with so many people, who sign in with {@link PASSWORD}. */
export async function boxgateOfPeople(
  context: BenchContext,
  name: string,
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<Boxgate> {
  const key = randomBytes(32);
  const boxgate = await context.boxgate(name, { BOXGATE_ENCRYPTION_KEY: key.toString('base64'), ...settings });
  const stored = await createPasswords(createHashQueue(1, 1), [key]).store(PASSWORD);
  await storeUsers(context, boxgate, count, stored);
  return boxgate;
}

/** The email of a stored user. */
function emailOf(user: number): string {
  return `user-${user}@shop.example`;
}

/** Stores users 1 to `count`, `user-<id>@shop.example`, with one password for all. */
async function storeUsers(
  context: BenchContext,
  { database, box }: Boxgate,
  count: number,
  { hash, pepper }: StoredPassword,
): Promise<void> {
  const query = (text: string, values: unknown[] = []) => context.postgres.query(database, text, values);
  await query(
    `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
     SELECT $1, i, e, e, $3, $4 FROM generate_series(1, $2::bigint) i, LATERAL (SELECT 'user-' || i || '@shop.example') t (e)`,
    [box, count, hash, pepper],
  );
  await query(`INSERT INTO boxgate.last_id (box, kind, id) VALUES ($1, 'User', $2)`, [box, count]);
  await query('VACUUM (ANALYZE) boxgate.user');
}

/** Signs in a person with a browser of their own. */
export async function signIn(boxgate: Boxgate, user: number): Promise<Browser> {
  const issuer = `http://127.0.0.1${boxgate.path('')}`;
  const browser = newBrowser({ url: `http://127.0.0.1:${boxgate.port}` }, boxgate.box, issuer);
  const { status } = await browser.submit('/auth/signin', { email: emailOf(user), password: PASSWORD });
  if (status !== 303) throw new Error(`user ${user} cannot sign in: ${status}`);
  return browser;
}

/** The cookies of a browser, as it sends them. */
export function cookiesOf(cookies: ReadonlyMap<string, string>): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}

/** The query of an authorization request for a code (RFC 6749 §4.1.1). */
export function authorization(client: string): string {
  const request = { response_type: 'code', client_id: client, redirect_uri: BACK, scope: 'openid' };
  return new URLSearchParams({ ...request, code_challenge: challenge, code_challenge_method: 'S256' }).toString();
}
