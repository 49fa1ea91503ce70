import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { formToken, newBrowserToken } from '../../../api/credentials/browser-token.ts';
import { createHashQueue } from '../../../api/credentials/hash-queue.ts';
import { createPasswords } from '../../../api/credentials/password.ts';
import type { Boxgate } from '../boxgate.ts';
import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { milliseconds, percent, perSecond } from '../figures.ts';
import { introspections } from '../introspections.ts';
import { formRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { alternate } from '../rounds.ts';
import { verdictOf, type Scenario } from '../scenario.ts';
import { storeUsers } from '../stored-users.ts';

const people = 500;
const password = 'a long enough passphrase';
/** Threads that the product gives to argon2: one less than there are cores. */
const threads = Math.max(1, availableParallelism() - 1);
const program = fileURLToPath(new URL('../floors/argon2.ts', import.meta.url));

/** People who sign in: as quick as argon2 is, and in no one's way when there are ten times as many as that. */
export const signIns: Scenario = {
  name: 'sign-ins',
  async run(context) {
    const key = randomBytes(32);
    const settings = { BOXGATE_FAILURES_PER_CLIENT: '1000000', BOXGATE_FAILURES_PER_BOX: '1000000' };
    const boxgate = await context.boxgate('people', { ...settings, BOXGATE_ENCRYPTION_KEY: key.toString('base64') });
    const stored = await createPasswords(createHashQueue(1, 1), [key]).store(password);
    await storeUsers(context, boxgate, people, stored);
    const requests = Array.from({ length: people }, (_, nth) => signIn(boxgate, nth + 1));
    const bare: number[] = [];
    const served: number[] = [];
    for (let round = 0; round < context.rounds; round += 1) {
      bare.push(await bareRate(context.seconds));
      const entry = { ...contestant(context, 'sign-ins', boxgate, requests, 4 * threads), status: 303 };
      served.push(...((await alternate(context.load, [entry], 1)).get('sign-ins') ?? []).map((one) => one.perSecond));
    }
    const ratio = medianRatio(served, bare);
    return [
      {
        what: `sign-ins with a password, against bare argon2 on ${threads} thread(s)`,
        goal: '>= 90 %',
        figure: `${percent(ratio)} (${perSecond(median(served))} of ${perSecond(median(bare))})`,
        verdict: verdictOf(ratio >= 0.9),
      },
      await overload(context, boxgate, requests, Math.ceil(10 * median(bare))),
    ];
  },
};

/** A form as the sign-in page sends it: whoever made the cookie can make its token. */
function signIn(boxgate: Boxgate, nth: number): string {
  const browser = newBrowserToken();
  const fields = { form_token: formToken(browser), email: `user-${nth}@shop.example`, password };
  return formRequest(boxgate.path('/auth/signin'), fields, undefined, `boxgate-${boxgate.box}=${browser}`);
}

/** Hashes a second with nothing around them. */
async function bareRate(seconds: number): Promise<number> {
  const count = Math.ceil(40 * threads * seconds);
  const { stdout } = await promisify(execFile)(process.execPath, [program, String(count), String(threads)]);
  const result: unknown = JSON.parse(stdout);
  if (typeof result !== 'object' || result === null || !('milliseconds' in result)) throw new Error(stdout);
  return (count * 1000) / Number(result.milliseconds);
}

async function overload(context: BenchContext, boxgate: Boxgate, requests: string[], rate: number) {
  const checks = await introspections(boxgate, boxgate.clients.opaque, 1_000);
  const time = { seconds: context.rounds * context.seconds, warmupSeconds: 1 };
  const [flood, checked] = await Promise.all([
    context.otherLoad.run({ port: boxgate.port, connections: 200, requests, rate, ...time }),
    context.load.run({ port: boxgate.port, connections: 32, requests: checks, rate: 500, ...time }),
  ]);
  const isHeldBack = Object.keys(flood.statuses).every((status) => ['303', '429', '503'].includes(status));
  const isServed = checked.failures === 0 && Object.keys(checked.statuses).join() === '200';
  return {
    what: 'p99 of 500 checks/s during ten times as many sign-ins as argon2 takes',
    goal: '< 50 ms',
    figure: `${milliseconds(checked.latency.p99)} (sign-ins answered ${JSON.stringify(flood.statuses).replaceAll('"', '')})`,
    verdict: verdictOf(isServed && isHeldBack && flood.failures === 0 && checked.latency.p99 < 50),
  };
}
