import { setTimeout as pause } from 'node:timers/promises';
import { openConnection } from './connection.ts';
import { latencyCounts } from './latency-counts.ts';
import type { FlowPerson, FlowPlan, LoadReport } from './plan.ts';
import { bearerRequest, cookieRequest, formRequest } from './requests.ts';

/** Sends a request, gives the whole answer. */
type Ask = (request: string) => Promise<string>;

/** Runs the plan to its end. Throws as soon as one answer is not as it has to be: such a run is no figure. */
export async function runFlows(plan: FlowPlan): Promise<LoadReport> {
  const life = { over: false, counts: latencyCounts(), flows: 0 };
  const repeat = async (person: FlowPerson): Promise<void> => {
    const { ask, close } = await openConversation(plan.port);
    while (!life.over) {
      const begin = performance.now();
      await goThrough(ask, person, plan);
      life.counts.record(performance.now() - begin);
      life.flows += 1;
    }
    close();
  };
  const ended = Promise.all(plan.people.map(repeat));
  await Promise.race([ended, pause(plan.warmupSeconds * 1000)]);
  life.counts = latencyCounts();
  const [begin, cpu] = [performance.now(), process.cpuUsage()];
  await Promise.race([ended, pause(plan.seconds * 1000)]);
  life.over = true;
  await ended;
  const seconds = (performance.now() - begin) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const { counts, flows } = life;
  return {
    requests: counts.total(),
    answersWithWarmUp: flows,
    seconds,
    perSecond: counts.total() / seconds,
    statuses: { 200: flows },
    failures: 0,
    latency: {
      p50: counts.quantile(0.5),
      p95: counts.quantile(0.95),
      p99: counts.quantile(0.99),
      max: counts.max(),
    },
    ownCpu: (user + system) / 1000,
  };
}

async function openConversation(port: number): Promise<{ ask: Ask; close: () => void }> {
  let waiting = Promise.withResolvers<string>();
  const connection = await openConnection(port, {
    answered: (_connection, _status, _since, text) => waiting.resolve(text),
    lost: () => waiting.reject(new Error('a connection was lost')),
  });
  return {
    ask(request) {
      waiting = Promise.withResolvers();
      connection.send(Buffer.from(request, 'latin1'), 0);
      return waiting.promise;
    },
    close: () => connection.close(),
  };
}

/** A code, its tokens, and whose they are: OpenID Connect Core §3.1.2, §3.1.3, §5.3. */
async function goThrough(ask: Ask, { authorize, cookie, sub }: FlowPerson, plan: FlowPlan): Promise<void> {
  const code = codeIn(await ask(cookieRequest(authorize, cookie)));
  const { path, fields, credentials } = plan.redemption;
  const redeemed = await ask(formRequest(path, { ...fields, code }, credentials));
  const { access_token, id_token } = bodyOf(redeemed);
  if (typeof access_token !== 'string' || algorithmOf(id_token) !== plan.algorithm) throw wrong(redeemed);
  const told = await ask(bearerRequest(plan.userInfo, access_token));
  if (bodyOf(told)['sub'] !== sub) throw wrong(told);
}

function codeIn(answer: string): string {
  const [, code] = /^HTTP\/1\.1 30[23] [^]*?\r\nlocation: [^\r]*[?&]code=([^&\r]+)/i.exec(answer) ?? [];
  if (code === undefined) throw wrong(answer);
  return decodeURIComponent(code);
}

function bodyOf(answer: string): Record<string, unknown> {
  if (!answer.startsWith('HTTP/1.1 200 ')) throw wrong(answer);
  const body: unknown = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
  if (typeof body !== 'object' || body === null) throw wrong(answer);
  return { ...body };
}

/** Returns the algorithm that a JWT names. */
function algorithmOf(jwt: unknown): unknown {
  const [header = '', , signature = ''] = String(jwt).split('.');
  if (signature === '') return undefined;
  const read: unknown = JSON.parse(Buffer.from(header, 'base64url').toString());
  return typeof read === 'object' && read !== null && 'alg' in read ? read.alg : undefined;
}

function wrong(answer: string): Error {
  return new Error(`not what the code flow answers:\n${answer}`);
}
