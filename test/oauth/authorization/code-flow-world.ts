import { newBrowserToken } from '../../../api/credentials/browser-token.ts';
import { storeConsent } from '../../../api/db/authorization/consent.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { insertUser } from '../../../api/db/user-write.ts';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import { beginSignIn } from '../../../api/users/sign-in/begin-sign-in.ts';
import { makeWorld } from '../world.ts';
import type { Declared, World } from '../world.ts';
import { app, back, codeOf, tokensOf } from './code-flow-requests.ts';
import type { Person } from './code-flow-requests.ts';

/** Two replicas on one Postgres, with boxes and people for the code flow. */
export interface CodeFlow {
  readonly world: World;
  readonly one: OAuthServices;
  readonly two: OAuthServices;
  /** Returns a box of a test's own, in which all have been served once: they hold it, and it has its key. */
  readonly newBox: (settings?: object, ...others: readonly Declared[]) => Promise<string>;
  /** Returns somebody who is signed in, and has allowed the client `app` to know who they are. */
  readonly newPerson: (box: string) => Promise<Person>;
}

/** Makes the world of a suite about the code flow. */
export async function makeCodeFlow(): Promise<CodeFlow> {
  const world = await makeWorld();
  const one = world.services;
  const two = world.replica();
  let made = 0;

  async function newBox(settings: object = {}, ...others: readonly Declared[]): Promise<string> {
    made += 1;
    const box = `box-${String(made)}`;
    await world.declare(box, { kind: 'Box', id: box, ...settings }, app, ...others);
    const person = await newPerson(box);
    for (const services of [one, two]) await tokensOf(services, person, await codeOf(services, person));
    return box;
  }

  async function newPerson(box: string): Promise<Person> {
    made += 1;
    const email = `user-${String(made)}@shop.example`;
    const password = { hash: 'none', pepper: 'none' };
    const fields = { email, emailKey: email, emailVerified: null, password, data: null, status: null };
    return inBox(one.pool, box, 'write', async (connection) => {
      const user = (await insertUser(connection, box, fields)) ?? 0;
      const { rows } = await connection.query<{ version: string }>(
        'SELECT config_version AS version FROM boxgate.box WHERE box = $1',
        [box],
      );
      const who = {
        user: { id: user, password: fields.password },
        version: Number(rows[0]?.version),
        browser: newBrowserToken(),
        now: one.now(),
        revocationsNeedStandby: false,
      };
      const signedIn = await beginSignIn(connection, box, {}, who);
      if (signedIn === undefined) throw new Error('nobody is signed in');
      const consent = { scopes: ['openid'], version: who.version, since: 0, createdAt: one.now() };
      const target = { redirectUri: back, audience: null };
      await storeConsent(connection, box, { user, client: 'app', target }, consent);
      return { box, user, browser: signedIn.browser };
    });
  }

  return { world, one, two, newBox, newPerson };
}
