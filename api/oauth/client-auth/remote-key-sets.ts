import { createLocalJWKSet, errors } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import type { IncomingMessage } from 'node:http';
import { PRIVATE_MEMBERS, RSA_MODULUS } from '../../../crds/json-web-keys.ts';
import { Outage } from '../../db/core/outage.ts';
import type { FairQueue, FairQueueLimits } from '../../shares/fair-queue.ts';
import { http } from '../../client/node-http.ts';
import { textWithin } from '../../../program/text.ts';

/** The key sets behind the `jwks_uri` of clients, fetched from listed hosts only and kept for a while. */
export interface RemoteKeySets {
  /** Checks whether the host of an address is listed; other hosts are never contacted. */
  isListed(uri: string): boolean;
  /**
   * Returns the keys at an address, for a client of a box; undefined where its host is not listed. Throws Outage when
   * they cannot be fetched, and Problem `throttled` when the box uses its share of fetches.
   */
  keys(uri: string, box: string): Promise<JWTVerifyGetKey | undefined>;
  /** Fetches the keys again; undefined where the host is not listed, or was asked a moment ago. Throws as above. */
  refetchedKeys(uri: string, box: string): Promise<JWTVerifyGetKey | undefined>;
}

/** Dependencies of fetching, given once. */
export interface RemoteKeySetsParts {
  /** `host` or `host:port`, as a URL has it. */
  readonly hosts: readonly string[];
  /** The text at an address; throws when there is none. */
  readonly fetchText: (url: URL) => Promise<string>;
  /** Divides fetches among boxes and, within a box, among hosts. */
  readonly queue: Pick<FairQueue, 'run'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Milliseconds for which keys are used without being fetched again. */
const keptFor = 5 * 60_000;
/** Milliseconds for which they are used when their host cannot be reached. */
const keptInNeed = 60 * 60_000;
/** Milliseconds between two requests to one address, even after a failure: forged assertions cause no more. */
const restFor = 15_000;
/** Key sets held at once; beyond that the box that has most loses the one that was fetched longest ago. */
const mostSets = 1_000;
/**
 * The share of fetches. One box never has more than half of them, also while no other wants one: a host that hangs
 * holds its place until the fetch is given up, and the first request of another box must not wait for that. For the
 * same reason one host has at most four fetches of a box.
 */
export const fetchLimits: FairQueueLimits = {
  places: 32,
  mostOfOne: 16,
  mostOfMember: 4,
  isFixed: true,
  waiting: 256,
  patience: 1_500,
};

interface Held {
  /** The box that fetched them first. */
  readonly box: string;
  readonly keys: JWTVerifyGetKey | undefined;
  /** Time of the last successful fetch; milliseconds. */
  readonly fetchedAt: number;
  /** Time of the last attempt to fetch them; milliseconds. */
  readonly triedAt: number;
}

/** Creates the key sets; none is held at first. */
export function createRemoteKeySets({ hosts, fetchText, queue, now }: RemoteKeySetsParts): RemoteKeySets {
  const listed = new Set(hosts);
  const held = new Map<string, Held>();
  /** Fetches in progress, by address. */
  const fetching = new Map<string, Promise<JWTVerifyGetKey>>();
  /** Fetches that wait for their turn, by box and address: none is refused because of another box. */
  const inLine = new Map<string, Promise<JWTVerifyGetKey>>();

  async function fetchKeys(url: URL, asking: string): Promise<JWTVerifyGetKey> {
    const before = held.get(url.href);
    const box = before?.box ?? asking;
    try {
      const keys = keysIn(await fetchText(url));
      hold(url.href, { box, keys, fetchedAt: now(), triedAt: now() });
      return keys;
    } catch (cause) {
      const { keys, fetchedAt } = before ?? { keys: undefined, fetchedAt: 0 };
      hold(url.href, { box, keys, fetchedAt, triedAt: now() });
      const kept = keptKeys(url);
      if (kept !== undefined) return kept;
      throw new Outage('the keys of a client cannot be fetched', { cause });
    }
  }

  function hold(uri: string, entry: Held): void {
    held.delete(uri);
    if (held.size >= mostSets) held.delete(oldestOfLargest(held));
    held.set(uri, entry);
  }

  /** Returns the keys that are used when they cannot be fetched. */
  function keptKeys(url: URL): JWTVerifyGetKey | undefined {
    const known = held.get(url.href);
    return known !== undefined && now() - known.fetchedAt < keptInNeed ? known.keys : undefined;
  }

  /** Fetches once for all requests, in the turn of the box. */
  function fetchInTurn(url: URL, box: string): Promise<JWTVerifyGetKey> {
    const place = `${box} ${url.href}`;
    const present = fetching.get(url.href) ?? inLine.get(place);
    if (present !== undefined) return present;
    const before = held.get(url.href);
    const waiting = queue
      .run({ box, member: url.host }, () => fetchSince(url, box, before))
      .finally(() => inLine.delete(place));
    inLine.set(place, waiting);
    return waiting;
  }

  /** Fetches keys, unless another box has done so, or does so now. */
  async function fetchSince(url: URL, box: string, before: Held | undefined): Promise<JWTVerifyGetKey> {
    const running = fetching.get(url.href);
    if (running !== undefined) return running;
    const present = held.get(url.href);
    if (present === before || present === undefined) {
      const started = fetchKeys(url, box).finally(() => fetching.delete(url.href));
      fetching.set(url.href, started);
      return started;
    }
    const fetched = keptKeys(url);
    if (fetched === undefined) throw fetchedInVain();
    return fetched;
  }

  function isResting({ triedAt }: Held): boolean {
    return now() - triedAt < restFor;
  }

  return {
    isListed: (uri) => listedUrl(uri, listed) !== undefined,
    async keys(uri, box) {
      const url = listedUrl(uri, listed);
      if (url === undefined) return undefined;
      const known = held.get(url.href);
      if (known?.keys !== undefined) {
        const age = now() - known.fetchedAt;
        if (age < keptFor || (age < keptInNeed && isResting(known))) return known.keys;
      }
      if (known !== undefined && isResting(known)) throw fetchedInVain();
      return fetchInTurn(url, box).catch((error: unknown) => {
        const kept = keptKeys(url);
        if (kept === undefined) throw error;
        return kept;
      });
    },
    async refetchedKeys(uri, box) {
      const url = listedUrl(uri, listed);
      if (url === undefined) return undefined;
      const known = held.get(url.href);
      return known !== undefined && isResting(known) ? undefined : fetchInTurn(url, box);
    },
  };
}

function fetchedInVain(): Outage {
  return new Outage('the keys of a client could not be fetched just now');
}

/** Returns the address that was fetched longest ago among those of the box that has most. */
function oldestOfLargest(held: ReadonlyMap<string, Held>): string {
  const counts = new Map<string, number>();
  let largest = '';
  for (const { box } of held.values()) {
    counts.set(box, (counts.get(box) ?? 0) + 1);
    if ((counts.get(box) ?? 0) > (counts.get(largest) ?? 0)) largest = box;
  }
  return [...held].find(([, { box }]) => box === largest)?.[0] ?? '';
}

/** Returns the URL of an address if its host is listed and it is https, or http on this machine. */
function listedUrl(uri: string, hosts: ReadonlySet<string>): URL | undefined {
  const url = URL.parse(uri);
  if (url === null || !hosts.has(url.host)) return undefined;
  if (`${url.username}${url.password}` !== '') return undefined;
  const isOwn = url.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || isOwn ? url : undefined;
}

function keysIn(text: string): JWTVerifyGetKey {
  const value: unknown = JSON.parse(text);
  if (!isKeySet(value)) throw new errors.JWKSInvalid();
  return createLocalJWKSet({ keys: value.keys.filter(isUsable) });
}

const modulus = new RegExp(RSA_MODULUS);

/** Checks whether a key could be declared in `jwks`. Others are ignored: third parties may know or find them. */
function isUsable(key: object): boolean {
  const members = new Map<string, unknown>(Object.entries(key));
  if (PRIVATE_MEMBERS.some((member) => members.has(member))) return false;
  return members.get('kty') !== 'RSA' || modulus.test(String(members.get('n')));
}

/** Checks a key set as far as needed here: jose checks each key when it is used. */
function isKeySet(value: unknown): value is JSONWebKeySet {
  if (typeof value !== 'object' || value === null || !('keys' in value) || !Array.isArray(value.keys)) return false;
  return value.keys.every((key: unknown) => typeof key === 'object' && key !== null && 'kty' in key);
}

/** Milliseconds from the call to the end of the answer, so that a waiting request is answered within two seconds. */
const patience = 1_500;
/** Bytes. */
const longest = 64 * 1024;

/**
 * Fetches the text at an address by one GET: no redirect is followed, nothing is sent along, at most 64 KB and 1.5
 * seconds. Throws an Error of one sentence.
 */
export async function fetchText(url: URL): Promise<string> {
  const answer = await answerOf(url, AbortSignal.timeout(patience));
  try {
    if (answer.statusCode !== 200) throw new Error(`the answer has status ${String(answer.statusCode)}`);
    return await textWithin(longest, answer, () => new Error(`the answer has more than ${String(longest)} bytes`));
  } finally {
    answer.destroy();
  }
}

function answerOf(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = { Accept: 'application/jwk-set+json, application/json' };
  // Loaded when it is needed, and without undici (see node-http.ts).
  const { request } = url.protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
  return new Promise((resolve, reject) => {
    // The listener stays: an error after the answer has begun reaches the reader too, and must not be uncaught here.
    request(url, { headers, signal, agent: false }, resolve).on('error', reject).end();
  });
}
