import type { ClientRequest, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { LINK_TYPES, type Link } from '../../crds/links.ts';
import { isObject, parseAnswerLine, parseJson } from './apply-answer.ts';
import { storedHostsOf, type BoxHostsCall, type StoredHosts } from './box-hosts.ts';
import type { ClusterSettingsCall } from './cluster-settings.ts';
import type {
  ApplyHead,
  ApplyLine,
  ApplyProgress,
  ApplyResult,
  BoxUsage,
  DeclaredBox,
  EpochClaim,
  LastUses,
} from './desired-state.ts';
import { ManagementError, refusal } from './management-error.ts';
import { lines, ndjsonChunks } from './ndjson.ts';
import { http } from './node-http.ts';
import type { Secret } from './secret.ts';
import { pinsOf, type PinnedServiceAccount, type ServiceAccountsCall } from './service-accounts.ts';
import { lastUsesOf, usageOf } from './usage-answer.ts';

/** The management port of the API. Every call throws ManagementError when it fails, and the signal's reason when aborted. */
export interface Management {
  /** Claims the next epoch: calls under older ones are refused from now on. `adopts`: see {@link EpochClaim}. */
  claimEpoch(cluster: string, signal: AbortSignal, adopts?: string): Promise<number>;
  /** Resolves when the API can serve, its database included. */
  ready(signal: AbortSignal): Promise<void>;
  /** The boxes in which this cluster declares something, as the database has it. */
  declaredBoxes(cluster: string, signal: AbortSignal): Promise<readonly DeclaredBox[]>;
  /** How much the clients that this cluster declares in a box are used: a portion of them, those after client `after`. */
  usage(box: string, cluster: string, after: string, signal: AbortSignal): Promise<BoxUsage>;
  /** When the clients that this cluster declares in a box were last used, all of them. */
  lastUses(box: string, cluster: string, signal: AbortSignal): Promise<LastUses>;
  /** Tells the API what it is to know of a cluster; the version that it has for that. */
  putSettings(settings: ClusterSettingsCall, signal: AbortSignal): Promise<number>;
  /** Assigns the hosts of the boxes that the call names, all in one transaction. */
  putHosts(hosts: BoxHostsCall, signal: AbortSignal): Promise<StoredHosts>;
  /** Finds the links of policies that lead nowhere in a box. */
  missingLinks(box: string, links: readonly Link[], signal: AbortSignal): Promise<readonly Link[]>;
  /** Tells which ServiceAccounts of clients are there, as far as it is known; every pin of the box. */
  serviceAccounts(
    box: string,
    accounts: ServiceAccountsCall,
    signal: AbortSignal,
  ): Promise<readonly PinnedServiceAccount[]>;
  /** One call, one transaction: its results, once all of it is committed. */
  apply(call: ApplyCall, signal: AbortSignal): Promise<readonly ApplyResult[]>;
}

/** What one apply call sends, and who hears how far it is. */
export interface ApplyCall {
  readonly box: string;
  readonly head: ApplyHead;
  /** Read once, as it is sent. */
  readonly lines: Iterable<ApplyLine>;
  readonly onProgress?: (progress: ApplyProgress['progress']) => void;
}

/** Where the management port is and how we prove who we are. */
export interface ManagementOptions {
  /** Such as `http://127.0.0.1:8081`. */
  readonly url: string;
  readonly key: Secret;
  /** Milliseconds without a byte in either direction after which a call is given up; 30,000 by default. */
  readonly idleTimeout?: number;
}

/** Far beyond any line of an answer. */
const longestLine = 1024 * 1024;

/** Characters: far beyond a hundred thousand clients. */
const longestUsage = 64 * 1024 * 1024;

/** A client of the management port. Connects when called; keeps nothing open between calls. */
export function createManagement(options: ManagementOptions): Management {
  return {
    async claimEpoch(cluster, signal, adopts) {
      const claim: EpochClaim = adopts === undefined ? { cluster } : { cluster, adopts };
      const answer = await call(options, 'POST', '/epoch', [claim], signal, jsonAnswer);
      if (isObject(answer) && typeof answer['epoch'] === 'number') return answer['epoch'];
      throw new ManagementError('refused', 'the API answered without an epoch');
    },
    ready: (signal) => call(options, 'GET', '/readyz', [], signal, async (answer) => void answer.resume()),
    async declaredBoxes(cluster, signal) {
      const path = `/boxes?cluster=${encodeURIComponent(cluster)}`;
      return declaredBoxesOf(await call(options, 'GET', path, [], signal, jsonAnswer));
    },
    async usage(box, cluster, after, signal) {
      const query = new URLSearchParams({ cluster, ...(after === '' ? {} : { after }) });
      const path = `/boxes/${encodeURIComponent(box)}/usage?${query.toString()}`;
      return usageOf(await call(options, 'GET', path, [], signal, (answer) => jsonBody(answer, longestUsage)));
    },
    async lastUses(box, cluster, signal) {
      const path = `/boxes/${encodeURIComponent(box)}/last-use?cluster=${encodeURIComponent(cluster)}`;
      return lastUsesOf(await call(options, 'GET', path, [], signal, (answer) => jsonBody(answer, longestUsage)));
    },
    async putSettings(settings, signal) {
      const answer = await call(options, 'PUT', '/settings', [settings], signal, jsonAnswer);
      if (isObject(answer) && typeof answer['version'] === 'number') return answer['version'];
      throw new ManagementError('refused', 'the API answered without a version');
    },
    async putHosts(hosts, signal) {
      return storedHostsOf(
        await call(options, 'PUT', '/hosts', [hosts], signal, (answer) => jsonBody(answer, longestUsage)),
      );
    },
    async missingLinks(box, links, signal) {
      const path = `/boxes/${encodeURIComponent(box)}/missing-links`;
      const read = (answer: IncomingMessage) => jsonBody(answer, longestUsage);
      return missingLinksOf(await call(options, 'POST', path, [{ links }], signal, read));
    },
    async serviceAccounts(box, accounts, signal) {
      const path = `/boxes/${encodeURIComponent(box)}/service-accounts`;
      const read = (answer: IncomingMessage) => jsonBody(answer, longestUsage);
      return pinsOf(await call(options, 'POST', path, [accounts], signal, read));
    },
    apply({ box, head, lines: sent, onProgress }, signal) {
      const path = `/boxes/${encodeURIComponent(box)}/apply`;
      return call(options, 'POST', path, headed(head, sent), signal, (answer) => results(answer, onProgress));
    },
  };
}

function* headed(head: ApplyHead, sent: Iterable<ApplyLine>): Generator<ApplyHead | ApplyLine> {
  yield head;
  yield* sent;
}

/** Sends values as NDJSON and reads the answer while they are still on their way. */
async function call<T>(
  options: ManagementOptions,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  values: Iterable<unknown>,
  signal: AbortSignal,
  read: (answer: IncomingMessage) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const sent = open(options, method, path, signal);
  const answered = response(sent);
  // A refusal may come before all is sent; then the answer counts, not the broken pipe.
  const sending = pipeline(Readable.from(ndjsonChunks(values)), sent).catch(() => undefined);
  try {
    const answer = await answered;
    if (answer.statusCode !== 200) throw refusal(answer.statusCode ?? 0, await jsonAnswer(answer));
    return await read(answer);
  } catch (error) {
    if (error instanceof ManagementError) throw error;
    signal.throwIfAborted();
    throw new ManagementError('unavailable', `the API cannot be reached: ${messageOf(error)}`, { cause: error });
  } finally {
    sent.destroy();
    await sending;
  }
}

function open(
  { url, key, idleTimeout }: ManagementOptions,
  method: string,
  path: string,
  signal: AbortSignal,
): ClientRequest {
  const type = path.endsWith('/apply') ? 'application/x-ndjson' : 'application/json';
  const headers = { authorization: `Bearer ${key.reveal()}`, ...(method === 'GET' ? {} : { 'content-type': type }) };
  const opened = http.request(new URL(path, url), { method, headers, signal, agent: false });
  const timeout = idleTimeout ?? 30_000;
  opened.setTimeout(timeout, () => opened.destroy(new Error(`no byte for ${String(timeout / 1000)} s`)));
  return opened;
}

function response(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    // Stays: an error after the answer has begun reaches its reader too, and must not be an uncaught one here.
    sent.on('error', reject);
  });
}

async function results(answer: IncomingMessage, onProgress: ApplyCall['onProgress']): Promise<readonly ApplyResult[]> {
  const found: ApplyResult[] = [];
  let applied = false;
  for await (const text of lines(textOf(answer), longestLine)) {
    const line = parseAnswerLine(text);
    if ('progress' in line) onProgress?.(line.progress);
    else if ('result' in line) found.push(line);
    else applied = true;
  }
  // Without its last line an answer says nothing: the transaction may or may not have been committed.
  if (!applied) throw new ManagementError('unavailable', 'the answer of the API broke off');
  return found;
}

function jsonAnswer(answer: IncomingMessage): Promise<unknown> {
  return jsonBody(answer, longestLine);
}

async function jsonBody(answer: IncomingMessage, longest: number): Promise<unknown> {
  let text = '';
  for await (const piece of textOf(answer)) {
    text += piece;
    if (text.length > longest) throw new ManagementError('refused', 'the answer of the API is too long');
  }
  return parseJson(text);
}

function textOf(answer: IncomingMessage): AsyncIterable<string> {
  return answer.setEncoding('utf8');
}

function declaredBoxesOf(answer: unknown): readonly DeclaredBox[] {
  if (!isObject(answer) || !Array.isArray(answer['boxes'])) {
    throw new ManagementError('refused', 'the API answered without a list of boxes');
  }
  return answer['boxes'].map((box: unknown) => {
    if (isObject(box) && typeof box['box'] === 'string' && typeof box['resources'] === 'number') {
      const missing = box['missing'] === true ? { missing: true as const } : {};
      return { box: box['box'], resources: box['resources'], ...missing };
    }
    throw new ManagementError('refused', 'the API answered a box that is not understood');
  });
}

function missingLinksOf(answer: unknown): readonly Link[] {
  if (!isObject(answer) || !Array.isArray(answer['missing'])) {
    throw new ManagementError('refused', 'the API answered without the links that lead nowhere');
  }
  return answer['missing'].flatMap((link: unknown) => {
    const { resourceType: type, id } = isObject(link) ? link : {};
    const resourceType = LINK_TYPES.find((known) => known === type);
    return resourceType === undefined || typeof id !== 'string' ? [] : [{ resourceType, id }];
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
