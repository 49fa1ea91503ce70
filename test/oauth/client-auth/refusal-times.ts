// A program for a thread of its own, `refusal-times.ts <code> <batches> <pairs>`, in which nothing else has run: what
// was compiled for other tests changes the times. Posts Welch's t of the refusals by that code.
import { parentPort } from 'node:worker_threads';
import { createClientSecrets, generateClientSecret } from '../../../api/credentials/client-secret.ts';
import type { ClientSecrets } from '../../../api/credentials/client-secret.ts';
import { createHashQueue } from '../../../api/credentials/hash-queue.ts';
import { NO_CHECKS } from '../no-checks.ts';
import { authenticateBySecret } from '../../../api/oauth/client-auth/authenticate-client.ts';
import { parseBasic } from '../../../api/oauth/client-auth/client-auth-request.ts';
import type { BoxState } from '../../../api/box/box-state.ts';
import { createBoxState } from '../../../api/box/box-state.ts';
import { createUsageNotes } from '../../../api/box/notes.ts';
import { changes, clientRow, sampleSealing } from '../../box/sample-changes.ts';
import { basic } from '../requests.ts';
import { median, trimmed, welch } from '../welch.ts';
import { outcome } from '../world.ts';

const secrets = createClientSecrets(createHashQueue(1, 1));

/** The code that ships, and code that leaks whether a client exists. */
const codes = new Map<string, ClientSecrets>([
  ['ships', secrets],
  [
    'answers an unknown client at once',
    {
      ...secrets,
      verify: async (stored, sent) => (stored.length > 0 ? secrets.verify(stored, sent) : undefined),
    },
  ],
  [
    'hashes twice for a client that it knows',
    {
      ...secrets,
      verify: async (stored, sent) =>
        (stored.length > 0 ? await secrets.verify(stored, `${sent}x`) : undefined) ?? secrets.verify(stored, sent),
    },
  ],
]);

/** Share of a rejection's time that is ignored: a processor runs the same code at another address that much slower. */
const negligible = 0.05;

const hundred = Array.from({ length: 100 }, (_, index) => String(index).padStart(2, '0'));

/**
 * Median over some batches of Welch's t between refusals of unknown clients and of known ones with a generated secret.
 */
async function medianOfT(secrets: ClientSecrets, batches: number, pairs: number): Promise<number> {
  const state = await stateWith(hundred.map((number) => `client-${number}`));
  const refusal = await timer(state, secrets);
  await samples(refusal, 5_000);
  const values: number[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    const { known, unknown } = await samples(refusal, pairs);
    values.push(welch(trimmed(known), trimmed(unknown), negligible));
  }
  return median(values);
}

type Refusal = (id: string) => Promise<number>;

/** Interleaved, and each pair in the other order than the one before: what slows one slows the other. */
async function samples(refusal: Refusal, pairs: number): Promise<{ known: number[]; unknown: number[] }> {
  const known: number[] = [];
  const unknown: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const number = hundred[pair % hundred.length] ?? '';
    const turns = [
      async () => void known.push(await refusal(`client-${number}`)),
      async () => void unknown.push(await refusal(`nobody-${number}`)),
    ];
    for (const turn of pair % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  return { known, unknown };
}

async function stateWith(ids: readonly string[]): Promise<BoxState> {
  const stored = await createClientSecrets(createHashQueue(1, 1)).store(generateClientSecret());
  const state = createBoxState('default', sampleSealing, () => undefined);
  state.take(changes(1, { changed: ids.map((id) => clientRow(id, { secrets: [stored] })) }));
  return state;
}

/** Nanoseconds that the refusal of a client with a wrong secret takes. */
async function timer(state: BoxState, secrets: ClientSecrets): Promise<Refusal> {
  const wrong = generateClientSecret();
  const services = { secrets, usage: createUsageNotes(), now: Date.now, issuer: () => 'https://auth.example.com' };
  return async (id) => {
    const credentials = parseBasic(basic(id, wrong));
    const started = process.hrtime.bigint();
    await outcome(authenticateBySecret(credentials, { state, services, checks: NO_CHECKS }));
    return Number(process.hrtime.bigint() - started);
  };
}

const [code = '', batches, pairs] = process.argv.slice(2);
const measured = codes.get(code);
if (measured === undefined) throw new Error(`no such code: ${code}`);
parentPort?.postMessage(await medianOfT(measured, Number(batches), Number(pairs)));
