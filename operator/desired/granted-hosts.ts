import { fingerprint } from './digest.ts';
import type { ValidatedObject } from './validate.ts';
import type { Resource } from '../../crds/validate.ts';
import type { HostGrants, DeniedHosts } from './tenancy.ts';

/** Returns a validated Box without hosts and issuer that its namespace does not grant; the same Box if it gets all. */
export function withGrantedHosts(
  validated: ValidatedObject,
  resource: Resource,
  hosts: HostGrants,
  defaultIssuer: string,
): ValidatedObject {
  const denied = deniedFrom(resource, hosts, defaultIssuer);
  if (denied === undefined || resource.resourceType !== 'Box' || validated.traits.kind !== 'Box') return validated;
  const issuer = denied.issuer ? undefined : resource.issuer;
  const content = fingerprint({ content: validated.content, denied });
  return { ...validated, content, denied, traits: { ...validated.traits, issuer } };
}

/** Returns the resource to send: a Box without the hosts and issuer that it does not get. */
export function withoutDenied(resource: Resource, { denied }: ValidatedObject): Resource {
  if (resource.resourceType !== 'Box' || denied === undefined) return resource;
  const { hosts = [], issuer, ...rest } = resource;
  const left = hosts.filter((host) => !denied.hosts.includes(host.toLowerCase()));
  return {
    ...rest,
    ...(left.length === 0 ? {} : { hosts: left }),
    ...(issuer === undefined || denied.issuer ? {} : { issuer }),
  };
}

function deniedFrom(resource: Resource, { allowed, refused }: HostGrants, own: string): DeniedHosts | undefined {
  if (resource.resourceType !== 'Box') return undefined;
  const claimed = new Set((resource.hosts ?? []).map((host) => host.toLowerCase()));
  const denied = refused.filter(({ host }) => claimed.has(host));
  const isForeign = resource.issuer !== undefined && resource.issuer !== own && !isOn(resource.issuer, allowed);
  const [first] = denied;
  if (first === undefined && !isForeign) return undefined;
  const issuer = 'spec.issuer is neither the default nor https on a host that the Box has';
  const messages = [...denied.map(({ message }) => message), ...(isForeign ? [issuer] : [])];
  return {
    hosts: denied.map(({ host }) => host),
    issuer: isForeign,
    reason: first?.reason ?? 'HostNotGranted',
    message: messages.join('; '),
  };
}

function isOn(issuer: string, hosts: readonly string[]): boolean {
  const url = URL.parse(issuer);
  return url?.protocol === 'https:' && hosts.includes(url.hostname.toLowerCase());
}
