import { BlockList, isIPv6 } from 'node:net';
import type { EnvironmentReader } from './environment.ts';

/** Keys in BOXGATE_ENCRYPTION_KEY at most. */
export const MOST_ENCRYPTION_KEYS = 16;

/** Reads BOXGATE_MANAGEMENT_KEYS: one key, or two during a rotation. */
export function readManagementKeys(read: EnvironmentReader): readonly string[] {
  const must = 'must hold a key of 16 visible characters or more, or two of them with a comma between';
  return read.requiredList('BOXGATE_MANAGEMENT_KEYS', 2, isManagementKey, must);
}

/** Reads BOXGATE_PUBLIC_URL: the address of the public port from outside, without a slash at the end. */
export function readPublicUrl(read: EnvironmentReader): string {
  const must = 'must be an http or https URL without query, such as https://auth.example.com';
  return read.url('BOXGATE_PUBLIC_URL', isPlainUrl, must).href.replace(/\/+$/, '');
}

/** Reads BOXGATE_CLUSTER_DOMAIN: the domain of the cluster's Services. */
export function readClusterDomain(read: EnvironmentReader): string {
  return read.text('BOXGATE_CLUSTER_DOMAIN', 'cluster.local', isDomain, 'must be a domain in lower case');
}

function isDomain(text: string): boolean {
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
