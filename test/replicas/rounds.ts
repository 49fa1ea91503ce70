import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import type { Reply } from '../support/connection.ts';
import type { Random } from '../support/random.ts';
import { redirectUri } from './replica.ts';
import type { Caller, Credentials, Replica } from './replica.ts';

/** One round: something is taken away (or given) on one replica, and used on the other when the answer is there. */
export interface Round {
  readonly nth: number;
  readonly random: Random;
  readonly box: string;
  /** Replica that makes the change; `user` is the replica on which the change must take effect. */
  readonly actor: Replica;
  readonly user: Replica;
  /** The database, as its owner: how a person gets tokens. */
  readonly ownerUrl: string;
  /** A client that may everything in the box, and its token. */
  readonly admin: Credentials & { readonly token: string };
}

/** A round of one kind; throws an Error that says what an older state answered. */
export type Play = (round: Round) => Promise<void>;

/** A client with a live token that has been used on both replicas. */
export interface Holder extends Credentials {
  readonly token: string;
  readonly refreshToken: string;
}

/** The kinds of rounds. */
export const plays = {
  async 'a session is closed'(round) {
    const holder = await newHolder(round);
    must('the close', await on(round.actor, round).delete('/Session', holder.token), 200);
    await refusedEverywhere(round, holder);
  },

  async 'an access token is revoked'(round) {
    const holder = await newHolder(round);
    must('the revocation', await on(round.actor, round).revoke(holder, holder.token), 200);
    await refusedEverywhere(round, holder);
  },

  async 'a refresh token is revoked'(round) {
    const holder = await newHolder(round);
    must('the revocation', await on(round.actor, round).revoke(holder, holder.refreshToken), 200);
    await refusedEverywhere(round, holder);
  },

  async 'a session is revoked by its id'(round) {
    const holder = await newHolder(round);
    const { jti } = (await on(round.actor, round).introspect(round.admin, holder.token)).json;
    must('the revocation', await on(round.actor, round).delete(`/Session/${String(jti)}`, round.admin.token), 200);
    await refusedEverywhere(round, holder);
  },

  async 'a session of a family is closed after a refresh'(round) {
    const holder = await newHolder(round);
    const refreshed = await on(either(round), round).refresh(holder, holder.refreshToken);
    must('a refresh', refreshed, 200);
    const newer = String(refreshed.json['access_token']);
    await works(round, holder.id, newer);
    must('the close', await on(round.actor, round).delete('/Session', newer), 200);
    await refusedEverywhere(round, { ...holder, token: newer });
    await refusedEverywhere(round, holder);
  },

  async 'a rotating refresh token is used on both replicas at once, and again after its successor'(round) {
    const holder = await newHolder(round, { rotation: true });
    const replicas = [round.actor, round.user, round.actor, round.user];
    const uses = await Promise.all(
      replicas.map((replica, nth) =>
        replica
          .caller(nth + 1)
          .inBox(round.box)
          .refresh(holder, holder.refreshToken),
      ),
    );
    for (const reply of uses) must('a use at once', reply, 200);
    const successors = new Set(uses.map(({ json }) => String(json['refresh_token'])));
    const [successor = ''] = successors;
    if (successors.size !== 1) throw new Error(`a refresh token has ${String(successors.size)} successors`);
    const third = await on(round.user, round).refresh(holder, successor);
    must('a use of the successor', third, 200);
    // The reuse ends everything that came of the family while its newest token is used.
    const newest = String(third.json['refresh_token']);
    const [reuse, last] = await Promise.all([
      on(round.actor, round).refresh(holder, holder.refreshToken),
      round.user.caller(1).inBox(round.box).refresh(holder, newest),
    ]);
    must('a reuse', reuse, 400);
    const tokens = [...uses, third, last].filter(({ status }) => status === 200);
    for (const { json } of tokens) await mustBeDead(round, String(json['access_token']));
    await refusedEverywhere(round, { ...holder, refreshToken: newest });
    if (last.status === 200)
      await refusedEverywhere(round, { ...holder, refreshToken: String(last.json['refresh_token']) });
  },

  async 'tokens with a refresh token are revoked'(round) {
    const holder = await newHolder(round);
    const refreshed = await on(round.user, round).refresh(holder, holder.refreshToken);
    must('a refresh', refreshed, 200);
    must('the revocation', await on(round.actor, round).revoke(holder, holder.refreshToken), 200);
    await refusedEverywhere(round, holder);
    await refusedEverywhere(round, { ...holder, token: String(refreshed.json['access_token']) });
  },

  async 'a policy is removed'(round) {
    const holder = await newHolder(round);
    await round.actor.manage.remove(round.box, [{ kind: 'AccessPolicy', id: `p-${holder.id}` }]);
    must('a use without a policy', await on(round.user, round).get(`/Client/${holder.id}`, holder.token), 403);
  },

  async 'a policy is linked to somebody else'(round) {
    const holder = await newHolder(round);
    await round.actor.manage.declare(round.box, [policyOf(holder.id, 'somebody-else')]);
    must('a use without a link', await on(round.user, round).get(`/Client/${holder.id}`, holder.token), 403);
  },

  async 'a policy made over REST is deleted'(round) {
    const holder = await newHolder(round, { policy: false });
    const { kind, ...policy } = policyOf(holder.id, holder.id);
    const path = `/AccessPolicy/${policy.id}`;
    const actor = on(round.actor, round);
    must('the grant', await actor.put(path, round.admin.token, { resourceType: kind, ...policy }), 201);
    await works(round, holder.id, holder.token);
    must('the deletion', await actor.delete(path, round.admin.token), 200);
    must('a use without a policy', await on(round.user, round).get(`/Client/${holder.id}`, holder.token), 403);
  },

  async 'a policy is made'(round) {
    const holder = await newHolder(round, { policy: false });
    await round.actor.manage.declare(round.box, [policyOf(holder.id, holder.id)]);
    await works(round, holder.id, holder.token);
  },

  async 'a client is removed'(round) {
    const holder = await newHolder(round);
    await removeClient(round, holder.id);
    await refusedEverywhere(round, holder);
    must('an issue', await on(round.user, round).issue(holder), 401);
  },

  async 'a client made over REST is deleted'(round) {
    const client = { id: idOf(round), secret: generateClientSecret() };
    const { kind, ...body } = clientBody(round, client);
    const actor = on(round.actor, round);
    must(
      'the creation',
      await actor.put(`/Client/${client.id}`, round.admin.token, { resourceType: kind, ...body }),
      201,
    );
    await round.actor.manage.declare(round.box, [policyOf(client.id, client.id)]);
    const holder = await holderOf(round, client);
    await works(round, holder.id, holder.token);
    must('the deletion', await actor.delete(`/Client/${client.id}`, round.admin.token), 200);
    await refusedEverywhere(round, holder);
    must('an issue', await on(round.user, round).issue(holder), 401);
  },

  async 'a client is disabled and enabled again'(round) {
    const holder = await newHolder(round);
    await round.actor.manage.declare(round.box, [clientBody(round, holder, { active: false })]);
    await refusedEverywhere(round, holder);
    must('an issue', await on(round.user, round).issue(holder), 401);
    await round.actor.manage.declare(round.box, [clientBody(round, holder)]);
    await refusedEverywhere(round, holder);
    await works(round, holder.id, await issued(round.user, round, holder));
  },

  async 'a client is removed and created again'(round) {
    const holder = await newHolder(round);
    await removeClient(round, holder.id);
    const again = { id: holder.id, secret: generateClientSecret() };
    await round.actor.manage.declare(round.box, [clientBody(round, again)]);
    must('an issue by the old secret', await on(round.user, round).issue(holder), 401);
    await refusedEverywhere(round, { ...holder, secret: again.secret });
    await works(round, again.id, await issued(round.user, round, again));
  },

  async 'a secret is changed'(round) {
    const holder = await newHolder(round);
    const changed = { id: holder.id, secret: generateClientSecret() };
    await round.actor.manage.declare(round.box, [clientBody(round, changed)]);
    must('an issue by the old secret', await on(round.user, round).issue(holder), 401);
    await works(round, holder.id, await issued(round.user, round, changed));
    await works(round, holder.id, holder.token);
  },

  async 'sessions begun before now are revoked'(round) {
    const holder = await newHolder(round);
    const before = new Date(Date.now() + 1).toISOString();
    while (Date.now() < Date.parse(before)) await turn();
    await round.actor.manage.declare(round.box, [clientBody(round, holder, { revoke_sessions_before: before })]);
    await refusedEverywhere(round, holder);
    await works(round, holder.id, await issued(round.user, round, holder));
  },

  async 'tokens are issued and refreshed while their client is removed'(round) {
    await race(round, (holder) => removeClient(round, holder.id));
  },

  async 'tokens are issued and refreshed while their client is disabled'(round) {
    await race(round, async (holder) => {
      await round.actor.manage.declare(round.box, [clientBody(round, holder, { active: false })]);
    });
  },

  async 'tokens are refreshed while their family is closed'(round) {
    const close = async (holder: Holder): Promise<void> => {
      must('the close', await on(round.actor, round).delete('/Session', holder.token), 200);
    };
    await race(round, close, 'refreshes only');
  },
} as const satisfies Record<string, Play>;

/** Throws an Error that says what was answered, unless it was this status. */
export function must(what: string, reply: Reply, status: number): void {
  if (reply.status !== status) {
    throw new Error(`${what} answered ${String(reply.status)} and not ${String(status)}: ${reply.text.slice(0, 300)}`);
  }
}

/** The first connection to a replica, in the box of the round. */
export function on(replica: Replica, round: Round): Caller {
  return replica.caller(0).inBox(round.box);
}

/** Picks one of the replicas. */
export function either(round: Round): Replica {
  return round.random.pick([round.actor, round.user]);
}

/** The id of a round's own client. */
export function idOf(round: Round): string {
  return `c${String(round.nth)}`;
}

/** The client of a round as it is declared; it refreshes, and every seventh one's tokens are JWTs. */
export function clientBody(round: Round, { id, secret }: Credentials, over: object = {}) {
  // Seven has nothing in common with the number of kinds: each meets both forms.
  const jwt = round.nth % 7 === 0 ? { token_format: 'jwt' } : {};
  const settings = { refresh_token: true, access_token_expiration: 3600, ...jwt };
  const code = { ...settings, redirect_uri: redirectUri, refresh_rotation: false };
  const auth = { client_credentials: settings, authorization_code: code };
  const grant_types = ['client_credentials', 'authorization_code'];
  return { kind: 'Client', id, secret, grant_types, auth, ...over } as const;
}

/** A policy that allows everything to a client. */
export function policyOf(id: string, linked: string) {
  return {
    kind: 'AccessPolicy',
    id: `p-${id}`,
    engine: 'allow',
    link: [{ resourceType: 'Client', id: linked }],
  } as const;
}

async function removeClient(round: Round, id: string): Promise<void> {
  await round.actor.manage.remove(round.box, [{ kind: 'Client', id }]);
}

/** Declares a client (and a policy that allows it) on the replica of the change, and gets it a token that works. */
async function newHolder(round: Round, { policy = true, rotation = false } = {}): Promise<Holder> {
  const client = { id: idOf(round), secret: generateClientSecret() };
  const policies = policy ? [policyOf(client.id, client.id)] : [];
  const body = clientBody(round, client);
  const own = { ...body.auth.client_credentials, refresh_rotation: rotation };
  const declared = { ...body, auth: { ...body.auth, client_credentials: own } };
  await round.actor.manage.declare(round.box, [declared, ...policies]);
  const holder = await holderOf(round, client);
  if (policy) await works(round, holder.id, holder.token);
  else must('a use without a policy', await on(round.user, round).get(`/Client/${client.id}`, holder.token), 403);
  return holder;
}

async function holderOf(round: Round, client: Credentials): Promise<Holder> {
  const reply = await on(either(round), round).issue(client);
  must('an issue', reply, 200);
  return { ...client, token: String(reply.json['access_token']), refreshToken: String(reply.json['refresh_token']) };
}

/** Issues a token. */
export async function issued(replica: Replica, round: Round, client: Credentials): Promise<string> {
  const reply = await on(replica, round).issue(client);
  must('an issue', reply, 200);
  return String(reply.json['access_token']);
}

/** Checks that the replica of the use accepts a token. */
export async function works(round: Round, id: string, token: string): Promise<void> {
  must('a use', await on(round.user, round).get(`/Client/${id}`, token), 200);
}

/** The access token opens nothing and is known to nobody, and the refresh token gets no other. */
export async function refusedEverywhere(round: Round, holder: Holder): Promise<void> {
  const user = on(round.user, round);
  must('a use', await user.get(`/Client/${holder.id}`, holder.token), 401);
  const { json } = await user.introspect(round.admin, holder.token);
  if (json['active'] !== false) throw new Error('an introspection called the token active');
  const refreshed = await user.refresh(holder, holder.refreshToken);
  if (![400, 401].includes(refreshed.status)) throw new Error(`a refresh answered ${String(refreshed.status)}`);
}

const racers = 4;

/** A race of callers on both replicas against a change. */
interface Race {
  /** Asks for a token; `nth` counts the callers from 1, and `isLate` says that the change has answered. */
  readonly ask: (caller: Caller, nth: number, isLate: boolean) => Promise<Reply>;
  readonly change: () => Promise<void>;
  /** Tokens that are gained before the change begins. */
  readonly enough: number;
}

/**
 * Makes a change while callers ask for tokens, as fast as it goes, and returns what they gained. Throws if a request
 * gains nothing before the change, a token after it, or an answer that blames the server.
 */
export async function gainedDuring(round: Round, { ask, change, enough }: Race): Promise<readonly Reply[]> {
  const gained: Reply[] = [];
  let [isBegun, isMade] = [false, false];
  const run = async (nth: number): Promise<void> => {
    const caller = (nth % 2 === 0 ? round.actor : round.user).caller(nth).inBox(round.box);
    while (!isMade) {
      const reply = await ask(caller, nth, false);
      if (reply.status === 200) gained.push(reply);
      else if (!isBegun || reply.status >= 500) must('a request for a token', reply, 200);
    }
    const late = await ask(caller, nth, true);
    if (late.status === 200) throw new Error('a token was given to a request that was sent after the change');
  };
  const runs = Promise.all(Array.from({ length: racers }, (_, nth) => run(nth + 1)));
  while (gained.length < enough) await Promise.race([turn(), runs]);
  isBegun = true;
  await change();
  isMade = true;
  await runs;
  return gained;
}

/**
 * Gets tokens on both replicas, as fast as it goes, while the change is made: none of them lives when it has answered.
 */
async function race(round: Round, change: (holder: Holder) => Promise<void>, only?: 'refreshes only'): Promise<void> {
  const holder = await newHolder(round);
  const gained = await gainedDuring(round, {
    ask: (caller, nth) =>
      only === undefined && nth % 4 < 2 ? caller.issue(holder) : caller.refresh(holder, holder.refreshToken),
    change: () => change(holder),
    enough: round.random.below(12),
  });
  for (const { json } of gained) await mustBeDead(round, String(json['access_token']));
  await refusedEverywhere(round, holder);
}

/** Checks that the replica of the use knows a token as inactive. */
export async function mustBeDead(round: Round, token: string): Promise<void> {
  const { json } = await on(round.user, round).introspect(round.admin, token);
  if (json['active'] !== false) throw new Error('a token that was gained in the race lives on');
}

/** Lets everything else go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
