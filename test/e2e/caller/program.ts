// The program of the pod that calls: one JSON line of standard input is one order, one line of standard output its
// result. It runs in the image of Boxgate and is given by a ConfigMap, so it imports nothing of ours.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Call {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

interface Order {
  readonly id: number;
  readonly call?: Call;
  readonly read?: string;
  readonly measure?: { readonly call: Call; readonly times: number };
  readonly load?: { readonly token: Call; readonly resource: string; readonly workers: number; readonly pause: number };
  readonly stop?: boolean;
}

interface Failure {
  readonly at: number;
  readonly step: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly why: string;
}

let loading = false;
let workers: Promise<void>[] = [];
const tokens: string[] = [];
let failures: Failure[] = [];
let served = 0;
let resource = '';

for await (const line of createInterface({ input: process.stdin })) {
  const order: unknown = JSON.parse(line);
  if (!isOrder(order)) throw new Error('no order');
  void carryOut(order).then(
    (result) => print({ id: order.id, result }),
    (error: unknown) => print({ id: order.id, error: error instanceof Error ? error.message : 'unknown' }),
  );
}

/** Orders come from the test alone, which has the same type for them. */
function isOrder(value: unknown): value is Order {
  return typeof value === 'object' && value !== null && 'id' in value;
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function carryOut(order: Order): Promise<unknown> {
  if (order.call !== undefined) return call(order.call);
  if (order.read !== undefined) return readFileSync(order.read, 'utf8');
  if (order.measure !== undefined) return measure(order.measure.call, order.measure.times);
  if (order.load !== undefined) return startLoad(order.load);
  if (order.stop !== undefined) return stopLoad();
  throw new Error('an unknown order');
}

async function call({ url, ...init }: Call) {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(30_000) });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** Milliseconds of each call, one after the other. */
async function measure(one: Call, times: number): Promise<number[]> {
  const took: number[] = [];
  for (let nth = 0; nth < times; nth++) {
    const started = performance.now();
    const { status } = await call(one);
    if (status !== 200) throw new Error(`${one.url} answered ${String(status)}`);
    took.push(performance.now() - started);
  }
  return took;
}

/** Each worker gets a token and uses it, over and over; every fifth round it also uses the oldest token of all. */
function startLoad({ token, resource: used, workers: count, pause }: NonNullable<Order['load']>): string {
  loading = true;
  resource = used;
  [tokens.length, failures, served] = [0, [], 0];
  workers = Array.from({ length: count }, async () => {
    for (let round = 0; loading; round++) {
      const issued = await step('token', token);
      const text = issued === undefined ? undefined : tokenIn(issued);
      if (text !== undefined) {
        tokens.push(text);
        await use('use of a new token', text);
      }
      const [oldest] = tokens;
      if (round % 5 === 4 && oldest !== undefined) await use('use of the oldest token', oldest);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  });
  return 'started';
}

function tokenIn(answer: string): string | undefined {
  return /"access_token":"([^"]+)"/.exec(answer)?.[1];
}

function use(name: string, token: string): Promise<string | undefined> {
  return step(name, { url: resource, headers: { authorization: `Bearer ${token}` } });
}

async function step(name: string, one: Call): Promise<string | undefined> {
  try {
    const { status, headers, body } = await call(one);
    if (status === 200) {
      served++;
      return body;
    }
    failures.push({
      at: Date.now(),
      step: name,
      status,
      retryAfter: headers['retry-after'] ?? null,
      why: body.slice(0, 200),
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    const why = `${error instanceof Error ? error.message : 'unknown'}${cause}`;
    failures.push({ at: Date.now(), step: name, status: 0, retryAfter: null, why });
  }
  return undefined;
}

/** Ends the load and returns its counts. One token of each ten is used once more before: none may be lost. */
async function stopLoad() {
  loading = false;
  await Promise.all(workers);
  for (const [nth, token] of tokens.entries()) if (nth % 10 === 0) await use('use of a token after the load', token);
  return { served, tokens: tokens.length, failures };
}
