import type { Boxgate } from '../boxgate.ts';
import { contestant } from '../contestants.ts';
import { milliseconds } from '../figures.ts';
import { bearerRequest } from '../load/requests.ts';
import { alternate } from '../rounds.ts';
import { judged, type Scenario } from '../scenario.ts';
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
      'pages by next': await followNext(boxgate, token),
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
        verdict: judged(p99 < 100),
      };
    });
  },
};

/** The addresses of the first pages, as their links tell them. */
async function followNext(boxgate: Boxgate, token: string): Promise<readonly string[]> {
  const found: string[] = [];
  let next: string | undefined = boxgate.path('/users?_count=100');
  while (next !== undefined && found.length < pages) {
    found.push(next);
    const headers = { Authorization: `Bearer ${token}` };
    const response: Response = await fetch(`http://127.0.0.1:${boxgate.port}${next}`, { headers });
    if (response.status !== 200) throw new Error(`${next}: ${response.status} ${await response.text()}`);
    await response.body?.cancel();
    const address: string | undefined = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    const url = address === undefined ? undefined : new URL(address, `http://127.0.0.1:${boxgate.port}`);
    next = url === undefined ? undefined : url.pathname + url.search;
  }
  return found;
}
