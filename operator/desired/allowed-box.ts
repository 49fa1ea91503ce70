import { fingerprint } from './digest.ts';
import type { Judged } from './judge.ts';
import type { Resource } from './resource.ts';
import type { HostVerdict, Withheld } from './tenancy.ts';

/** Returns a judged Box without hosts and issuer that its namespace does not grant; the same Box if it gets all. */
export function allowedBox(judged: Judged, resource: Resource, hosts: HostVerdict, defaultIssuer: string): Judged {
  const withheld = withheldFrom(resource, hosts, defaultIssuer);
  if (withheld === undefined || resource.resourceType !== 'Box' || judged.traits.kind !== 'Box') return judged;
  const issuer = withheld.issuer ? undefined : resource.issuer;
  const content = fingerprint({ content: judged.content, withheld });
  return { ...judged, content, withheld, traits: { ...judged.traits, issuer } };
}

/** Returns the resource to send: a Box without the hosts and issuer that it does not get. */
export function withoutWithheld(resource: Resource, { withheld }: Judged): Resource {
  if (resource.resourceType !== 'Box' || withheld === undefined) return resource;
  const { hosts = [], issuer, ...rest } = resource;
  const left = hosts.filter((host) => !withheld.hosts.includes(host.toLowerCase()));
  return {
    ...rest,
    ...(left.length === 0 ? {} : { hosts: left }),
    ...(issuer === undefined || withheld.issuer ? {} : { issuer }),
  };
}

function withheldFrom(resource: Resource, { allowed, refused }: HostVerdict, own: string): Withheld | undefined {
  if (resource.resourceType !== 'Box') return undefined;
  const claimed = new Set((resource.hosts ?? []).map((host) => host.toLowerCase()));
  const withheld = refused.filter(({ host }) => claimed.has(host));
  const isForeign = resource.issuer !== undefined && resource.issuer !== own && !isOn(resource.issuer, allowed);
  const [first] = withheld;
  if (first === undefined && !isForeign) return undefined;
  const issuer = 'spec.issuer is neither the default nor https on a host that the Box has';
  const messages = [...withheld.map(({ message }) => message), ...(isForeign ? [issuer] : [])];
  return {
    hosts: withheld.map(({ host }) => host),
    issuer: isForeign,
    reason: first?.reason ?? 'HostNotGranted',
    message: messages.join('; '),
  };
}

function isOn(issuer: string, hosts: readonly string[]): boolean {
  const url = URL.parse(issuer);
  return url?.protocol === 'https:' && hosts.includes(url.hostname.toLowerCase());
}
