import { userTokens } from '../../../test/support/user-token.ts';
import { contestant } from '../contestants.ts';
import { percent, perSecond } from '../figures.ts';
import { bearerRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { alternate } from '../rounds.ts';
import { verdictOf, type Scenario } from '../scenario.ts';
import { noPassword, storeUsers } from '../stored-users.ts';

/** BOXGATE_BENCH_MEMBERS: fewer, to try the scenario. */
const members = Number(process.env['BOXGATE_BENCH_MEMBERS'] ?? 100_000);

/** A policy that is linked to a group of very many people, against one that is linked to a person. */
export const policyOfGroup: Scenario = {
  name: 'policy-of-group',
  async run(context) {
    const boxgate = await context.boxgate('groups');
    const { box, database, clients } = boxgate;
    await storeUsers(context, boxgate, members + 1, noPassword);
    const query = (text: string, values: unknown[]) => context.postgres.query(database, text, values);
    await query(`INSERT INTO boxgate.group (box, id, name, version) VALUES ($1, 1, 'everybody', 1)`, [box]);
    // User 1 is no member.
    await query('INSERT INTO boxgate.group_member SELECT $1, i, 1 FROM generate_series(2, $2::bigint) i', [
      box,
      members + 1,
    ]);
    await boxgate.add([policy('of-user', 'User'), policy('of-group', 'Group')]);
    await boxgate.issue(clients.opaque, 1);
    const [id = ''] = await boxgate.sessionIds(1);
    const people = [
      ['user', 1],
      ['group', members],
    ] as const;
    const contestants = await Promise.all(
      people.map(async ([name, user]) => {
        const { access } = await userTokens(context.postgres.url(database), box, clients.opaque.id, user);
        return contestant(context, name, boxgate, [bearerRequest(boxgate.path(`/Session/${id}`), access)]);
      }),
    );
    const results = await alternate(context.load, contestants, context.rounds);
    const rates = (name: string): number[] => results.get(name)?.map((round) => round.perSecond) ?? [];
    const ratio = medianRatio(rates('group'), rates('user'));
    return [
      {
        what: `check by a policy of a group with ${members.toLocaleString('en-US')} members, against a policy of a user`,
        goal: '>= 95 %',
        figure: `${percent(ratio)} (${perSecond(median(rates('group')))} of ${perSecond(median(rates('user')))})`,
        verdict: verdictOf(ratio >= 0.95),
      },
    ];
  },
};

function policy(id: string, resourceType: 'User' | 'Group') {
  const link = [{ resourceType, id: '1' }];
  return { kind: 'AccessPolicy', id, resource: { resourceType: 'AccessPolicy', id, engine: 'allow', link } } as const;
}
