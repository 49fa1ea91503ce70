import { createHash } from 'node:crypto';
import type { ApplyLine, ApplyResult, NamespaceClaim } from '../../../api/client/desired-state.ts';
import { createManagement, type Management } from '../../../api/client/management.ts';
import { ManagementError } from '../../../api/client/management-error.ts';
import { Secret } from '../../../api/client/secret.ts';
import type { ApiProcess } from '../../support/api-process.ts';
import { managementKey, type RestartedApi } from './api-supply.ts';

/** A client as a story knows it. */
export interface Credentials {
  readonly id: string;
  readonly secret: string;
}

/** Expected status of `GET /Session` with a token at the end of a story. */
export interface Expectation {
  readonly token: string;
  readonly status: 200 | 401 | 403;
  readonly why: string;
}

/** An answer to a story. */
export interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** A caller who does everything until it is acknowledged, as the operator and careful applications do. */
export interface ApiWorld {
  readonly box: string;
  readonly cluster: string;
  /** The namespace that every call of this box names from now on. */
  namespace: NamespaceClaim | undefined;
  readonly expected: Expectation[];
  /** Tokens of clients without a policy: never 200, at any time. */
  readonly strangers: string[];
  /** Calls the management port, again and again until it answers. */
  managed<T>(call: (management: Management) => Promise<T>): Promise<T>;
  claim(): Promise<number>;
  apply(...lines: readonly ApplyLine[]): Promise<readonly ApplyResult[]>;
  /** Sends a request to the box, again and again until it is answered. */
  ask(method: string, path: string, options: AskOptions): Promise<Answer>;
  issue(client: Credentials): Promise<Answer['json']>;
  /** Records what the token is worth from now on, in place of what was recorded, and whether it already is. */
  expect(token: unknown, status: Expectation['status'], why: string): Promise<void>;
}

/** Credentials and body of a request. */
export interface AskOptions {
  readonly by: Credentials | string;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: object;
}

/** A world in a box of its own. */
export function createApiWorld(api: RestartedApi, box: string): ApiWorld {
  const cluster = box;
  let epoch = 0;
  const world: ApiWorld = {
    box,
    cluster,
    namespace: undefined,
    expected: [],
    strangers: [],
    managed: (call) =>
      untilAnswered(api, async ({ managementUrl }) => {
        const management = createManagement({ url: managementUrl, key: new Secret(managementKey) });
        try {
          return { value: await call(management) };
        } catch (error) {
          if (error instanceof ManagementError && error.code === 'unavailable') return undefined;
          throw error;
        }
      }),
    async claim() {
      epoch = await world.managed((management) => management.claimEpoch(cluster, AbortSignal.timeout(10_000)));
      return epoch;
    },
    async apply(...lines) {
      if (epoch === 0) await world.claim();
      const claim = world.namespace === undefined ? {} : { namespace: world.namespace };
      const head = { cluster, epoch, complete: false, ...claim };
      return world.managed((management) => management.apply({ box, head, lines }, AbortSignal.timeout(10_000)));
    },
    ask: (method, path, options) =>
      untilAnswered(api, async ({ url }) => {
        const answer = await request(`${url}/boxes/${box}${path}`, method, options);
        return answer === undefined || answer.status === 503 ? undefined : { value: answer };
      }),
    async issue(by) {
      const { status, json } = await world.ask('POST', '/auth/token', {
        by,
        form: { grant_type: 'client_credentials' },
      });
      if (status !== 200) throw new Error(`no token for ${by.id}: ${String(status)} ${JSON.stringify(json)}`);
      return json;
    },
    async expect(token, status, why) {
      const known = world.expected.findIndex((one) => one.token === token);
      const expectation = { token: String(token), status, why };
      world.expected.splice(known === -1 ? world.expected.length : known, known === -1 ? 0 : 1, expectation);
      const fault = await faultOf(world, expectation);
      if (fault !== undefined) throw new Error(`at once: ${fault}`);
    },
  };
  return world;
}

/** Returns the fault of an expectation now; undefined if it holds. */
export async function faultOf(world: ApiWorld, { token, status, why }: Expectation): Promise<string | undefined> {
  const answer = await world.ask('GET', '/Session', { by: token });
  return answer.status === status
    ? undefined
    : `a token that ${why}: ${String(answer.status)} instead of ${String(status)}`;
}

const patience = 60_000;

async function untilAnswered<T>(
  api: RestartedApi,
  attempt: (process: ApiProcess) => Promise<{ readonly value: T } | undefined>,
): Promise<T> {
  const deadline = performance.now() + patience;
  while (performance.now() < deadline) {
    const answered = await attempt(await api.present());
    if (answered !== undefined) return answered.value;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error('the API never answered');
}

async function request(url: string, method: string, { by, form, json }: AskOptions): Promise<Answer | undefined> {
  const authorization = typeof by === 'string' ? `Bearer ${by}` : `Basic ${btoa(`${by.id}:${by.secret}`)}`;
  const body = form === undefined ? json && JSON.stringify(json) : new URLSearchParams(form);
  const type = json === undefined ? {} : { 'Content-Type': contentTypeOf(method) };
  try {
    const response = await fetch(url, {
      method,
      headers: { Authorization: authorization, ...type },
      body: body ?? null,
    });
    return { status: response.status, json: jsonOf(await response.text()) };
  } catch {
    // It ended before it answered, or while it did.
    return undefined;
  }
}

function contentTypeOf(method: string): string {
  return method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = text === '' ? {} : JSON.parse(text);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The same content has the same digest, as the operator has it. */
export function digestOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16);
}
