import { parseJson } from '../../crds/path.ts';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Link } from '../../crds/links.ts';
import { ANSWERS, parseAnswerLine, understood, type Expected } from './answers.ts';
import type {
  BoxHostsCall,
  StoredHosts,
  ClusterSettingsCall,
  PinnedServiceAccount,
  ServiceAccountsCall,
} from './cluster.ts';
import type {
  Applied,
  ApplyHead,
  ApplyLine,
  ApplyProgress,
  ApplyResult,
  BoxUsage,
  DeclaredBox,
  EpochClaim,
  LastUses,
  MoveCall,
} from './desired-state.ts';
import { ManagementError, refusal } from './management-error.ts';
import { lines, ndjsonChunks } from './ndjson.ts';
import { http, https } from './node-http.ts';
import type { Secret } from './secret.ts';

/** The management port of the API. Every call throws ManagementError if it fails, the signal's reason if aborted. */
export interface Management {
  /** Claims the next epoch: calls under older ones are refused from now on. `adopts`: see {@link EpochClaim}. */
  claimEpoch(cluster: string, signal: AbortSignal, adopts?: string): Promise<number>;
  /** Resolves when the API can serve, its database included. */
  ready(signal: AbortSignal): Promise<void>;
  /** Returns the boxes in which this cluster declares something, from the database. */
  declaredBoxes(cluster: string, signal: AbortSignal): Promise<readonly DeclaredBox[]>;
  /** Reads the usage of clients that this cluster declares in a box: a portion of them, those after client `after`. */
  usage(box: string, cluster: string, after: string, signal: AbortSignal): Promise<BoxUsage>;
  /** Reads the last use of all clients that this cluster declares in a box. */
  lastUses(box: string, cluster: string, signal: AbortSignal): Promise<LastUses>;
  /** Stores the settings of a cluster in the API; returns their version. */
  putSettings(settings: ClusterSettingsCall, signal: AbortSignal): Promise<number>;
  /** Assigns the hosts of the boxes that the call names, all in one transaction. */
  putHosts(hosts: BoxHostsCall, signal: AbortSignal): Promise<StoredHosts>;
  /** Finds the links of policies without a target in a box. */
  missingLinks(box: string, links: readonly Link[], signal: AbortSignal): Promise<readonly Link[]>;
  /** Reports the known ServiceAccounts of clients; returns every pin of the box. */
  serviceAccounts(
    box: string,
    accounts: ServiceAccountsCall,
    signal: AbortSignal,
  ): Promise<readonly PinnedServiceAccount[]>;
  /** Moves a box to a database, in minutes if it is large; returns the one that it is in then. */
  move(box: string, call: MoveCall, signal: AbortSignal): Promise<string>;
  /** Applies a call in one transaction; returns its results once all of it is committed. */
  apply(call: ApplyCall, signal: AbortSignal): Promise<readonly ApplyResult[]>;
}

/** Content of one apply call, and listeners for its progress and its last line. */
export interface ApplyCall {
  readonly box: string;
  readonly head: ApplyHead;
  /** Lines, read once while they are sent. */
  readonly lines: Iterable<ApplyLine>;
  readonly onProgress?: (progress: ApplyProgress['progress']) => void;
  readonly onApplied?: (applied: Applied) => void;
}

/** Address of the management port, and the key for it. */
export interface ManagementOptions {
  /** URL such as `http://127.0.0.1:8081`. */
  readonly url: string;
  readonly key: Secret;
  /**
   * Returns the authorities (PEM) that may have signed the certificate of an https URL; by default those of Node.js.
   */
  readonly authority?: () => Promise<string>;
  /** Milliseconds without a byte in either direction after which a call is aborted; 30,000 by default. */
  readonly idleTimeout?: number;
}

/** Characters: far beyond any line of an answer. */
const longestLine = 1024 * 1024;

/** Milliseconds: no byte comes before a box has been moved. A second call would begin the copy again. */
const longestMove = 1_800_000;

/** Characters of a reason, for a status. */
const longestReason = 500;

/** Characters: far beyond a hundred thousand clients. */
const longestAnswer = 64 * 1024 * 1024;

/** Creates a client of the management port. Connects when called; keeps no connection open between calls. */
export function createManagement(options: ManagementOptions): Management {
  const ask = async <T>(sent: Sent, expected: Expected<T>, signal: AbortSignal): Promise<T> =>
    understood(await call(options, { ...sent, read: jsonBody }, signal), expected);
  return {
    async claimEpoch(cluster, signal, adopts) {
      const claim: EpochClaim = adopts === undefined ? { cluster } : { cluster, adopts };
      return (await ask({ method: 'POST', path: '/epoch', values: [claim] }, ANSWERS.epoch, signal)).epoch;
    },
    ready: (signal) =>
      call(options, { method: 'GET', path: '/readyz', read: async (answer) => void answer.resume() }, signal),
    async declaredBoxes(cluster, signal) {
      const path = `/boxes?cluster=${encodeURIComponent(cluster)}`;
      return (await ask({ method: 'GET', path }, ANSWERS.boxes, signal)).boxes;
    },
    usage(box, cluster, after, signal) {
      const query = new URLSearchParams({ cluster, ...(after === '' ? {} : { after }) });
      return ask({ method: 'GET', path: `${pathOf(box)}/usage?${query.toString()}` }, ANSWERS.usage, signal);
    },
    lastUses(box, cluster, signal) {
      const path = `${pathOf(box)}/last-use?cluster=${encodeURIComponent(cluster)}`;
      return ask({ method: 'GET', path }, ANSWERS.lastUses, signal);
    },
    async putSettings(settings, signal) {
      return (await ask({ method: 'PUT', path: '/settings', values: [settings] }, ANSWERS.settings, signal)).version;
    },
    putHosts: (hosts, signal) => ask({ method: 'PUT', path: '/hosts', values: [hosts] }, ANSWERS.hosts, signal),
    async missingLinks(box, links, signal) {
      const sent = { method: 'POST', path: `${pathOf(box)}/missing-links`, values: [{ links }] } as const;
      return (await ask(sent, ANSWERS.missingLinks, signal)).missing;
    },
    async serviceAccounts(box, accounts, signal) {
      const sent = { method: 'POST', path: `${pathOf(box)}/service-accounts`, values: [accounts] } as const;
      return (await ask(sent, ANSWERS.pins, signal)).pins;
    },
    async move(box, wanted, signal) {
      const sent = { method: 'POST', path: `${pathOf(box)}/move`, values: [wanted], read: jsonBody } as const;
      return understood(await call({ ...options, idleTimeout: longestMove }, sent, signal), ANSWERS.move).database;
    },
    apply({ box, head, lines: sent, ...listeners }, signal) {
      const path = `${pathOf(box)}/apply`;
      const read = (answer: IncomingMessage) => results(answer, listeners);
      return call(options, { method: 'POST', path, values: headed(head, sent), read }, signal);
    },
  };
}

function* headed(head: ApplyHead, sent: Iterable<ApplyLine>): Generator<ApplyHead | ApplyLine> {
  yield head;
  yield* sent;
}

function pathOf(box: string): string {
  return `/boxes/${encodeURIComponent(box)}`;
}

/** Values for the management port. */
interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly values?: Iterable<unknown>;
}

/** A call of the management port, with the function that reads its answer. */
interface Call<T> extends Sent {
  readonly read: (answer: IncomingMessage) => Promise<T>;
}

/** Sends values as NDJSON and reads the answer while values are still being sent. */
async function call<T>(
  options: ManagementOptions,
  { method, path, values = [], read }: Call<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const ca = await options.authority?.();
  const sent = await connected(options, { method, path, ca }, signal);
  const answered = response(sent);
  // A refusal may come before all is sent; then only the answer matters, not the broken pipe.
  const sending = pipeline(Readable.from(ndjsonChunks(values)), sent).catch(() => undefined);
  try {
    const answer = await answered;
    if (answer.statusCode !== 200) throw refusal(answer.statusCode ?? 0, await refusalBody(answer));
    return await read(answer);
  } catch (error) {
    if (error instanceof ManagementError) throw error;
    throw unreachable(error, signal);
  } finally {
    sent.destroy();
    await sending;
  }
}

/** Returns the error of a call without an answer. Throws the signal's reason if it is aborted. */
function unreachable(error: unknown, signal: AbortSignal): ManagementError {
  signal.throwIfAborted();
  return new ManagementError('unavailable', `the API cannot be reached: ${reasonOf(error)}`, { cause: error });
}

/** Attempts to connect, and milliseconds: of each one, and between two. */
const connecting: Readonly<Record<'attempts' | 'limit' | 'pause', number>> = { attempts: 8, limit: 500, pause: 100 };

/**
 * Opens a connection, and sends nothing yet. The Service leads to all replicas, ready or not, so that they can say what
 * is wrong: one that has only begun, has ended or cannot be reached is not asked again. Throws ManagementError.
 */
async function connected(options: ManagementOptions, opening: Opening, signal: AbortSignal): Promise<ClientRequest> {
  for (let left = connecting.attempts; ; left -= 1) {
    const sent = open(options, opening, signal);
    try {
      await connection(sent);
      return sent;
    } catch (error) {
      if (left <= 1) throw unreachable(error, signal);
    }
    await sleep(connecting.pause, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function connection(sent: ClientRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => sent.destroy(new Error('no connection in time')), connecting.limit);
    sent.on('error', reject);
    sent.once('close', () => clearTimeout(late));
    sent.once('socket', (socket) => {
      socket.once('connect', () => {
        clearTimeout(late);
        resolve();
      });
    });
  });
}

/** First line of a call, and the authorities for its connection. */
interface Opening {
  readonly method: string;
  readonly path: string;
  readonly ca: string | undefined;
}

function open(
  { url, key, idleTimeout }: ManagementOptions,
  { method, path, ca }: Opening,
  signal: AbortSignal,
): ClientRequest {
  const type = path.endsWith('/apply') ? 'application/x-ndjson' : 'application/json';
  const headers = { authorization: `Bearer ${key.reveal()}`, ...(method === 'GET' ? {} : { 'content-type': type }) };
  const target = new URL(path, url);
  const timeout = idleTimeout ?? 30_000;
  // An option, so that it also limits the time to connect: Node's setTimeout begins when a request is connected.
  const common = { method, headers, signal, timeout, agent: false } as const;
  const opened =
    target.protocol === 'https:'
      ? https().request(target, { ...common, ...trusting(ca) })
      : http.request(target, common);
  return opened.on('timeout', () => opened.destroy(new Error(`no byte for ${String(timeout / 1000)} s`)));
}

/** Node verifies the name and the authority of the certificate; nothing may turn that off. */
function trusting(ca: string | undefined) {
  return { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: true, minVersion: 'TLSv1.2' } as const;
}

function response(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    // Stays registered: an error after the answer has begun reaches its reader too, and must not be uncaught here.
    sent.on('error', reject);
  });
}

async function results(
  answer: IncomingMessage,
  { onProgress, onApplied }: Pick<ApplyCall, 'onProgress' | 'onApplied'>,
): Promise<readonly ApplyResult[]> {
  const found: ApplyResult[] = [];
  let applied: Applied | undefined;
  for await (const text of lines(textOf(answer), longestLine)) {
    const line = parseAnswerLine(text);
    if ('progress' in line) onProgress?.(line.progress);
    else if ('result' in line) found.push(line);
    else applied = line;
  }
  // An answer without its last line proves nothing: the transaction may or may not have been committed.
  if (applied === undefined) throw new ManagementError('unavailable', 'the answer of the API broke off');
  onApplied?.(applied);
  return found;
}

/** Reads why a call is refused: JSON, or the text of a probe. */
async function refusalBody(answer: IncomingMessage): Promise<unknown> {
  if (answer.headers['content-type']?.startsWith('text/plain') !== true) return jsonBody(answer);
  let error = '';
  for await (const piece of textOf(answer)) error = `${error}${piece}`.slice(0, longestReason);
  return { error };
}

async function jsonBody(answer: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const piece of textOf(answer)) {
    text += piece;
    if (text.length > longestAnswer) throw new ManagementError('refused', 'the answer of the API is too long');
  }
  return parseJson(text);
}

function textOf(answer: IncomingMessage): AsyncIterable<string> {
  return answer.setEncoding('utf8');
}

/** Returns why there is no answer; for a certificate that cannot be verified also which setting decides over it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `its certificate is not for the host of BOXGATE_MANAGEMENT_URL (${error.message})`;
  }
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired: renew the one of the management port';
  if (/CERT|UNABLE_TO/.test(code)) {
    return `its certificate is not signed by an authority of BOXGATE_MANAGEMENT_CA_FILE (${code})`;
  }
  if (code === 'EPROTO') return `it does not speak TLS as BOXGATE_MANAGEMENT_URL says (${error.message.trim()})`;
  return error.message;
}
