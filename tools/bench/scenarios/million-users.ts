import { contestant } from '../contestants.ts';
import { milliseconds } from '../figures.ts';
import { bearerRequest } from '../load/requests.ts';
import { followNext } from '../next-pages.ts';
import { alternate } from '../rounds.ts';
import { verdictOf, type Scenario } from '../scenario.ts';
import { noPassword, storeUsers } from '../stored-users.ts';

/** BOXGATE_BENCH_USERS: fewer, to try the scenario. */
const users = Number(process.env['BOXGATE_BENCH_USERS'] ?? 1_000_000);
const pages = 200;

/** Lists of very many users: any page that `next` leads to, one email, the beginning of one. */
export const millionUsers: Scenario = {
  name: 'million-users',
  async run(context) {
    const boxgate = await context.boxgate('users');
    await storeUsers(context, boxgate, users, noPassword);
    const [token = ''] = await boxgate.issue(boxgate.clients.reader, 1);
    const some = Array.from({ length: 500 }, (_, nth) => 1 + ((nth * 7_919) % users));
    const asked: Readonly<Record<string, readonly string[]>> = {
      'pages by next': await followNext(boxgate, token, boxgate.path('/users?_count=100'), pages),
      'by email': some.map((id) => boxgate.path(`/users?email=user-${id}%40shop.example`)),
      'by its beginning': some.map((id) => boxgate.path(`/users?q=user-${id}`)),
    };
    const contestants = Object.entries(asked).map(([name, paths]) =>
      contestant(
        context,
        name,
        boxgate,
        paths.map((path) => bearerRequest(path, token)),
        4,
      ),
    );
    const results = await alternate(context.load, contestants, context.rounds);
    return [...results].map(([name, rounds]) => {
      const p99 = Math.max(...rounds.map(({ latency }) => latency.p99));
      return {
        what: `\`GET /users\` of ${users.toLocaleString('en-US')} users, ${name}: p99 on 4 connections, worst round`,
        goal: '< 100 ms',
        figure: milliseconds(p99),
        verdict: verdictOf(p99 < 100),
      };
    });
  },
};
