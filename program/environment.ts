import type { Server } from 'node:net';
import { BlockList, isIPv6 } from 'node:net';

/** Keys in BOXGATE_ENCRYPTION_KEY at most. */
export const MOST_ENCRYPTION_KEYS = 16;

/** Reads BOXGATE_MANAGEMENT_KEYS: one key, or two during a rotation. */
export function readManagementKeys(read: EnvironmentReader): readonly string[] {
  const must = 'must hold a key of 16 visible characters or more, or two of them with a comma between';
  return read.requiredList('BOXGATE_MANAGEMENT_KEYS', 2, isManagementKey, must);
}

/** Reads BOXGATE_PUBLIC_URL: the address of the public port from outside, without a slash at the end. */
export function readPublicUrl(read: EnvironmentReader): string {
  return read.url('BOXGATE_PUBLIC_URL', isPlainUrl, PLAIN_URL).href.replace(/\/+$/, '');
}

/** The end of the sentence that refuses an address which is not {@link isPlainUrl}. */
export const PLAIN_URL = 'must be an http or https URL without query, such as https://auth.example.com';

/** Reads BOXGATE_CLUSTER_DOMAIN: the domain of the cluster's Services. */
export function readClusterDomain(read: EnvironmentReader): string {
  return read.text('BOXGATE_CLUSTER_DOMAIN', 'cluster.local', isSubdomain, 'must be a domain in lower case');
}

/** Checks for a DNS subdomain in lower case, such as the name of a Secret (RFC 1123). */
export function isSubdomain(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(text);
}

/** Checks whether a URL is http or https and has no query, fragment, user name or password. */
export function isPlainUrl(url: URL): boolean {
  return /^https?:$/.test(url.protocol) && url.search + url.hash + url.username + url.password === '';
}

/** Checks for an IP address that only the same machine or pod reaches: 127.0.0.0/8 or ::1. */
export function isLoopback(address: string): boolean {
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function isManagementKey(text: string): boolean {
  return /^[\x21-\x7e]{16,}$/.test(text);
}

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Every mistake of an environment, a sentence each; none shows a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'));
    this.mistakes = mistakes;
  }
}

/** Reads variables; an empty one is treated as not set. After a mistake a method still returns a value of its type. */
export interface EnvironmentReader {
  /** A whole number between two bounds. */
  integer(name: string, otherwise: number, least: number, most: number): number;
  /** The same, without a default. */
  optionalInteger(name: string, least: number, most: number): number | undefined;
  /** Text that fits; `must` ends the sentence that begins with the variable's name. */
  text(name: string, otherwise: string, fits: (text: string) => boolean, must: string): string;
  /** The same, for a required variable. */
  requiredText(name: string, fits: (text: string) => boolean, must: string): string;
  /** `true` or `false`. */
  flag(name: string, otherwise?: boolean): boolean;
  /** One of a few words. */
  word<W extends string>(name: string, otherwise: W, words: readonly W[]): W;
  /** Entries separated by commas, each of which must fit. */
  list(name: string, fits: (text: string) => boolean, must: string): readonly string[];
  /** The same, with one to `most` entries required. */
  requiredList(name: string, most: number, fits: (text: string) => boolean, must: string): readonly string[];
  /** A required URL. */
  url(name: string, fits: (url: URL) => boolean, must: string): URL;
  /** Records a mistake, such as one between variables. */
  wrong(name: string, must: string): void;
}

/** Reads with one reader, then throws ConfigError with all mistakes found, if any. */
export function reading<T>(environment: Environment, work: (read: EnvironmentReader) => T): T {
  const mistakes: string[] = [];
  const config = work(createReader(environment, mistakes));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

function createReader(environment: Environment, mistakes: string[]): EnvironmentReader {
  // A value of a Secret that was created from a file ends with a newline.
  const value = (name: string): string | undefined => {
    const text = environment[name]?.replace(/[\r\n]+$/, '');
    return text === '' ? undefined : text;
  };
  const wrong = (name: string, must: string): void => void mistakes.push(`${name} ${must}`);

  function integer(name: string, otherwise: number, least: number, most: number): number {
    const text = value(name);
    if (text === undefined) return otherwise;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (number >= least && number <= most) return number;
    wrong(name, `must be a whole number from ${String(least)} to ${String(most)}`);
    return otherwise;
  }

  function list(name: string, fits: (text: string) => boolean, must: string): readonly string[] {
    const found = (value(name) ?? '')
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    if (!found.every(fits)) wrong(name, must);
    return found;
  }

  return {
    integer,
    list,
    wrong,
    optionalInteger: (name, least, most) => (value(name) === undefined ? undefined : integer(name, least, least, most)),
    text(name, otherwise, fits, must) {
      const found = value(name) ?? otherwise;
      if (!fits(found)) wrong(name, must);
      return found;
    },
    requiredText(name, fits, must) {
      const found = value(name);
      if (found === undefined) wrong(name, `is missing: it ${must}`);
      else if (!fits(found)) wrong(name, must);
      return found ?? '';
    },
    flag(name, otherwise = false) {
      const found = value(name) ?? String(otherwise);
      if (found !== 'true' && found !== 'false') wrong(name, 'must be true or false');
      return found === 'true';
    },
    word(name, otherwise, words) {
      const found = words.find((word) => word === (value(name) ?? otherwise));
      if (found === undefined) wrong(name, `must be one of ${words.join(', ')}`);
      return found ?? otherwise;
    },
    requiredList(name, most, fits, must) {
      const found = list(name, fits, must);
      if (found.length === 0) wrong(name, `is missing: it ${must}`);
      if (found.length > most) wrong(name, `must not hold more than ${String(most)}`);
      return found;
    },
    url(name, fits, must) {
      const text = value(name);
      const url = text === undefined ? null : URL.parse(text);
      if (url !== null && fits(url)) return url;
      wrong(name, text === undefined ? `is missing: it ${must}` : must);
      return new URL('invalid://');
    },
  };
}

/** Returns the port that a server listens on. Throws if it does not listen on TCP. */
export function portOf(server: Server): number {
  const address = server.address();
  if (typeof address === 'object' && address !== null) return address.port;
  throw new TypeError('the server does not listen on a TCP port');
}

/** Returns the end of the names of the variables of a database that is not home: `_EU_1` of `eu-1`. */
export function databaseSuffix(name: string): string {
  return `_${name.toUpperCase().replaceAll('-', '_')}`;
}
