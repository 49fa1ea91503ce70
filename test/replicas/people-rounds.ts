import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import type { Reply } from '../support/connection.ts';
import { userTokens } from '../support/user-token.ts';
import { clientBody, gainedDuring, idOf, must, on, refusedEverywhere } from './rounds.ts';
import type { Holder, Play, Round } from './rounds.ts';

/** A person with live tokens that have been used on both replicas, and the group whose policy grants them. */
interface SignedIn extends Holder {
  readonly person: number;
  readonly group: number;
}

/** The kinds of rounds in which something is taken from a person. */
export const peoplePlays = {
  async 'a password is changed'(round) {
    const person = await signedIn(round);
    await change(round, person, { password: 'another horse' });
    await refusedEverywhere(round, person);
  },

  async 'a user is made inactive and active again'(round) {
    const person = await signedIn(round);
    await change(round, person, { status: 'inactive' });
    await refusedEverywhere(round, person);
    await change(round, person, { status: 'active' });
    await refusedEverywhere(round, person);
    await works(round, await newTokens(round, person));
  },

  async 'a user is deleted'(round) {
    const person = await signedIn(round);
    const path = `/users/${String(person.person)}`;
    must('the deletion', await on(round.actor, round).delete(path, round.admin.token), 200);
    await refusedEverywhere(round, person);
  },

  async 'a user is taken out of a group and put back'(round) {
    const person = await signedIn(round);
    await change(round, person, { 'group-ids': [] });
    must('a use outside of the group', await use(round, person), 403);
    await change(round, person, { 'group-ids': [person.group] });
    await works(round, person);
  },

  async 'a group is deleted'(round) {
    const person = await signedIn(round);
    const path = `/Group/${String(person.group)}`;
    // A group that a policy links is not deleted.
    const named = { kind: 'AccessPolicy', id: `p-${person.id}`, engine: 'cel', subjects: 'authenticated' } as const;
    const expression = `user.groups.exists(group, group.name == "group ${person.id}")`;
    await round.actor.manage.declare(round.box, [{ ...named, expression }]);
    await works(round, person);
    must('the deletion', await on(round.actor, round).delete(path, round.admin.token), 200);
    must('a use without the group', await use(round, person), 403);
  },

  async 'tokens are refreshed while the password is changed'(round) {
    const person = await signedIn(round);
    const gained = await gainedDuring(round, {
      ask: (caller) => caller.refresh(person, person.refreshToken),
      change: () => change(round, person, { password: 'another horse' }),
      enough: round.random.below(8),
    });
    for (const { json } of gained) {
      await refusedEverywhere(round, { ...person, token: String(json['access_token']) });
    }
  },
} as const satisfies Record<string, Play>;

/** A client that anybody may refresh at, a group with a policy, and a user in it who has tokens. */
async function signedIn(round: Round): Promise<SignedIn> {
  const client = { id: idOf(round), secret: generateClientSecret() };
  const actor = on(round.actor, round);
  const group = idIn(await actor.post('/Group', round.admin.token, { name: `group ${client.id}` }));
  const fields = { email: `${client.id}@mail.example`, password: 'correct horse', 'group-ids': [group] };
  const person = idIn(await actor.post('/users', round.admin.token, fields));
  const link = [{ resourceType: 'Group', id: round.random.pick([String(group), `group ${client.id}`]) }];
  await round.actor.manage.declare(round.box, [
    clientBody(round, client),
    { kind: 'AccessPolicy', id: `p-${client.id}`, engine: 'cel', expression: 'true', link },
  ]);
  const holder = await newTokens(round, { ...client, person, group, token: '', refreshToken: '' });
  await works(round, holder);
  must('a refresh', await on(round.user, round).refresh(holder, holder.refreshToken), 200);
  return holder;
}

async function newTokens(round: Round, person: SignedIn): Promise<SignedIn> {
  const { access, refresh } = await userTokens(round.ownerUrl, round.box, person.id, person.person);
  return { ...person, token: access, refreshToken: refresh };
}

async function change(round: Round, { person }: SignedIn, body: object): Promise<void> {
  const path = `/users/${String(person)}`;
  must('the change', await on(round.actor, round).put(path, round.admin.token, body), 200);
}

function use(round: Round, person: SignedIn): Promise<Reply> {
  return on(round.user, round).get(`/Client/${person.id}`, person.token);
}

async function works(round: Round, person: SignedIn): Promise<void> {
  must('a use', await use(round, person), 200);
}

function idIn(reply: Reply): number {
  must('the creation', reply, 201);
  return Number(reply.json['id']);
}
