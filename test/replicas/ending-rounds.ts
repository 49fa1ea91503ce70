import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import type { Reply } from '../support/connection.ts';
import type { Credentials } from './replica.ts';
import { clientBody, either, idOf, issued, must, mustBeDead, on, policyOf, works } from './rounds.ts';
import type { Play, Round } from './rounds.ts';

/** The kinds of rounds in which a session without a refresh family is ended: one statement may end many. */
export const endingPlays = {
  async 'a session without a family is closed'(round) {
    await endsPlainSession(round, (token) => on(round.actor, round).delete('/Session', token));
  },

  async 'an access token without a refresh token is revoked'(round) {
    await endsPlainSession(round, (token, holder) => on(round.actor, round).revoke(holder, token));
  },

  async 'a session without a family is revoked by its id'(round) {
    await endsPlainSession(round, async (token) => {
      const { jti } = (await on(round.user, round).introspect(round.admin, token)).json;
      return on(round.actor, round).delete(`/Session/${String(jti)}`, round.admin.token);
    });
  },

  async 'a session without a family is ended by several on both replicas at once'(round) {
    const { holder, tokens } = await plainSessions(round, 6);
    const { jti } = (await on(round.user, round).introspect(round.admin, tokens[0] ?? '')).json;
    const callers = [round.actor, round.user].flatMap((replica) =>
      Array.from({ length: 6 }, (_, nth) => replica.caller(nth).inBox(round.box)),
    );
    // Every third one ends a session of its own, in the same statements.
    const ends = callers.map((caller, nth) => {
      if (nth % 3 === 0) return caller.revoke(holder, tokens[0] ?? '');
      if (nth % 3 === 1) return caller.delete(`/Session/${String(jti)}`, round.admin.token);
      return caller.revoke(holder, tokens[(nth + 1) / 3] ?? '');
    });
    for (const reply of await Promise.all(ends)) must('an end at once', reply, 200);
    for (const token of tokens.slice(0, 5)) await mustBeDead(round, token);
    await works(round, holder.id, tokens[5] ?? '');
    const { status } = (await on(round.user, round).get(`/Session/${String(jti)}`, round.admin.token)).json;
    const found = await on(round.user, round).get(`/AuditEvent?target=Session/${String(jti)}`, round.admin.token);
    const records = Number(found.json['total']);
    if (records !== (status === 'revoked' ? 1 : 0))
      throw new Error(`a session that is ${String(status)} has ${String(records)} records`);
  },
} as const satisfies Record<string, Play>;

/** A client without refresh tokens, and tokens of it, issued on either replica. */
async function plainSessions(round: Round, count: number): Promise<{ holder: Credentials; tokens: readonly string[] }> {
  const holder = { id: idOf(round), secret: generateClientSecret() };
  const body = clientBody(round, holder);
  const auth = { ...body.auth, client_credentials: { ...body.auth.client_credentials, refresh_token: false } };
  await round.actor.manage.declare(round.box, [{ ...body, auth }, policyOf(holder.id, holder.id)]);
  const tokens: string[] = [];
  for (let nth = 0; nth < count; nth += 1) tokens.push(await issued(either(round), round, holder));
  return { holder, tokens };
}

/** Ends one of two sessions on one replica: the other replica refuses its token from then on, and not the other one. */
async function endsPlainSession(
  round: Round,
  end: (token: string, holder: Credentials) => Promise<Reply>,
): Promise<void> {
  const { holder, tokens } = await plainSessions(round, 2);
  const [token = '', other = ''] = tokens;
  for (const one of tokens) await works(round, holder.id, one);
  must('the end', await end(token, holder), 200);
  must('a use', await on(round.user, round).get(`/Client/${holder.id}`, token), 401);
  await mustBeDead(round, token);
  await works(round, holder.id, other);
}
