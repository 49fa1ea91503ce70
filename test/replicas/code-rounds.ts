import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { makeCode } from '../../api/credentials/code-text.ts';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { redirectUri } from './replica.ts';
import type { Credentials } from './replica.ts';
import { clientBody, gainedDuring, idOf, must, mustBeDead, on } from './rounds.ts';
import type { Play, Round } from './rounds.ts';

/** The kinds of rounds in which authorization codes are redeemed: one statement may use many. */
export const codePlays = {
  async 'codes are redeemed while the user is made inactive'(round) {
    const holder = await codeHolder(round);
    await whileRedeeming(round, holder, async () => {
      const path = `/users/${String(holder.person)}`;
      must('the change', await on(round.actor, round).put(path, round.admin.token, { status: 'inactive' }), 200);
    });
  },

  async 'codes are redeemed while their client is made inactive'(round) {
    const holder = await codeHolder(round);
    await whileRedeeming(round, holder, async () => {
      await round.actor.manage.declare(round.box, [{ ...bodyOf(round, holder), active: false }]);
    });
  },

  async 'a code is redeemed on both replicas at once'(round) {
    const holder = await codeHolder(round);
    const [code = ''] = await storedCodes(round, holder, 1);
    const callers = [round.actor, round.user].flatMap((replica) =>
      [1, 2].map((nth) => replica.caller(nth).inBox(round.box)),
    );
    const uses = await Promise.all(callers.map((caller) => caller.redeem(holder, code)));
    const [good, ...more] = uses.filter(({ status }) => status === 200);
    if (more.length > 0) throw new Error(`a code was redeemed ${String(1 + more.length)} times`);
    for (const reply of uses) if (reply !== good) must('another use', reply, 400);
    // RFC 6749 §4.1.2: what came from a code that is used again ends.
    if (good !== undefined) await mustBeDead(round, String(good.json['access_token']));
  },
} as const satisfies Record<string, Play>;

/** A client whose codes give no refresh token, and a user who has signed in to it. */
interface CodeHolder extends Credentials {
  readonly person: number;
}

async function codeHolder(round: Round): Promise<CodeHolder> {
  const client = { id: idOf(round), secret: generateClientSecret() };
  const fields = { email: `${client.id}@mail.example`, password: 'correct horse' };
  const created = await on(round.actor, round).post('/users', round.admin.token, fields);
  must('the creation', created, 201);
  await round.actor.manage.declare(round.box, [bodyOf(round, client)]);
  return { ...client, person: Number(created.json['id']) };
}

function bodyOf(round: Round, { id, secret }: Credentials) {
  const body = clientBody(round, { id, secret });
  const code = { ...body.auth.authorization_code, refresh_token: false };
  return { ...body, scope: ['read'], auth: { ...body.auth, authorization_code: code } };
}

/** Codes that both replicas redeem during a change, and those that are kept until it has answered. */
const [early, late] = [36, 4];

/** Makes a change while both replicas redeem codes. Afterwards no code is taken, and no token that was gained lives. */
async function whileRedeeming(round: Round, holder: CodeHolder, change: () => Promise<void>): Promise<void> {
  const codes = await storedCodes(round, holder, early);
  const kept = await storedCodes(round, holder, late);
  const gained = await gainedDuring(round, {
    ask: (caller, _nth, isLate) => caller.redeem(holder, (isLate ? kept : codes).pop() ?? ''),
    change,
    enough: round.random.below(8),
  });
  for (const { json } of gained) await mustBeDead(round, String(json['access_token']));
}

/** Stores codes of a user under the box's present version, as `GET /auth/authorize` does, and returns their texts. */
async function storedCodes(round: Round, { id, person }: CodeHolder, count: number): Promise<string[]> {
  const codes = Array.from({ length: count }, () => makeCode({ grantsNothing: false, hasDefaultScope: false }));
  const owner = new pg.Client({ connectionString: round.ownerUrl });
  await owner.connect();
  try {
    await owner.query(
      `INSERT INTO boxgate.authorization_code (box, id, hash, client, user_id, version, browser, redirect_uri, scope,
                                                 created_at, expires_at, kept_until, authenticated_at)
       SELECT b.box, c.id, decode(c.hash, 'hex'), $4, $5, b.config_version, $6, $7, 'read',
              now(), now() + interval '1 minute', now() + interval '1 hour', now()
         FROM boxgate.box b, unnest($2::uuid[], $3::text[]) c (id, hash) WHERE b.box = $1`,
      [
        ...[round.box, codes.map((code) => code.id), codes.map((code) => code.hash), id, person],
        ...[randomBytes(32), redirectUri],
      ],
    );
  } finally {
    await owner.end();
  }
  return codes.map(({ text }) => text);
}
