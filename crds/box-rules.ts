import type { Box } from './box.ts';
import { brokenElements, when, type Draft, type Rule } from './rule.ts';
import { SCOPE_TOKEN } from './fields.ts';
import { RESERVED_SCOPES, ISSUER, WEB_ADDRESS } from './uri.ts';
import type { Group } from './group.ts';

/** Rules about the fields of a Group. */
export const groupRules: readonly Rule<Draft<Pick<Group, 'name'>>>[] = [
  {
    id: 'group-name-not-a-number',
    path: 'name',
    message: 'must not be only digits: policies would take it for the id of a group',
    cel: "!has(self.name) || !self.name.matches('^[0-9]+$')",
    broken: ({ name }) => when(name !== undefined && /^[0-9]+$/.test(name), 'name'),
  },
];

type Subject = Draft<Box>;

/**
 * A name under which a box never answers: of the installation itself, or one that a cluster gives to Services
 * (`x.namespace.svc`, optionally followed by a cluster domain).
 */
const FOREIGN_NAME = '\\.svc(\\.|$)|^(localhost|boxgate-api|[0-9]+(\\.[0-9]+){3})$';
const FOREIGN = new RegExp(FOREIGN_NAME, 'u');
const ISSUER_FORM = new RegExp(ISSUER, 'u');
/** Longest name of a scope, as in the `scope` of a Client. */
const LONGEST_SCOPE = 128;
const SCOPE = new RegExp(SCOPE_TOKEN, 'u');
/** A colour as CSS and designers write it. */
const COLOR = '^#[0-9A-Fa-f]{6}$';
const ADDRESS = new RegExp(WEB_ADDRESS, 'u');

/** Rules about the fields of a Box. */
export const boxRules: readonly Rule<Subject>[] = [
  {
    id: 'box-issuer',
    path: 'issuer',
    message:
      'must be https://<host>, with or without a path; no user name, query, fragment or slash at the end (RFC 8414 section 2)',
    cel: `!has(self.issuer) || self.issuer.matches(r'${ISSUER}')`,
    broken: ({ issuer }) => when(issuer !== undefined && !ISSUER_FORM.test(issuer), 'issuer'),
  },
  {
    id: 'box-hosts',
    path: 'hosts',
    message:
      'must not be localhost, boxgate-api, an IP address or below .svc: those names belong to the installation and to Services of the cluster',
    cel: `!has(self.hosts) || !self.hosts.exists(h, h.matches(r'${FOREIGN_NAME}'))`,
    broken: ({ hosts }) => brokenElements(hosts, 'hosts', (host) => FOREIGN.test(host)),
  },
  {
    id: 'box-default-group',
    path: 'registration.default_group',
    message: 'must be the name of a group: not admins, not only digits',
    cel: "!has(self.registration) || !has(self.registration.default_group) || !self.registration.default_group.matches('^([0-9]+|admins)$')",
    broken: ({ registration }) =>
      when(/^([0-9]+|admins)$/u.test(registration?.default_group ?? ''), 'registration.default_group'),
  },
  {
    id: 'box-logo',
    path: 'sign_in.logo_url',
    message: 'must be https://<host>, or http on loopback, without a user name or fragment',
    cel: `!has(self.sign_in) || !has(self.sign_in.logo_url) || self.sign_in.logo_url.matches(r'${WEB_ADDRESS}')`,
    broken: ({ sign_in }) =>
      when(sign_in?.logo_url !== undefined && !ADDRESS.test(sign_in.logo_url), 'sign_in.logo_url'),
  },
  {
    id: 'box-color',
    path: 'sign_in.color',
    message: 'must be # and six hexadecimal digits, such as "#1f5fbf"',
    cel: `!has(self.sign_in) || !has(self.sign_in.color) || self.sign_in.color.matches('${COLOR}')`,
    broken: ({ sign_in }) =>
      when(sign_in?.color !== undefined && !new RegExp(COLOR, 'u').test(sign_in.color), 'sign_in.color'),
  },
  {
    id: 'box-scope-names',
    path: 'scopes',
    message:
      'must have scopes as names: at most 128 characters of visible ASCII without blank, quote and backslash (RFC 6749 section 3.3)',
    cel: `!has(self.scopes) || self.scopes.all(k, size(k) <= ${String(LONGEST_SCOPE)} && k.matches(r'${SCOPE_TOKEN}'))`,
    broken: ({ scopes }) => whenNamed(scopes, (name) => name.length > LONGEST_SCOPE || !SCOPE.test(name)),
  },
  {
    id: 'box-scopes-reserved',
    path: 'scopes',
    message: `must not have a name that means the same in every box: ${RESERVED_SCOPES.join(', ')}`,
    cel: `!has(self.scopes) || self.scopes.all(k, !(k in [${RESERVED_SCOPES.map((name) => `'${name}'`).join(', ')}]))`,
    broken: ({ scopes }) => whenNamed(scopes, (name) => RESERVED_SCOPES.includes(name)),
  },
];

function whenNamed(scopes: Subject['scopes'], isBroken: (name: string) => boolean): string[] {
  return when(Object.keys(scopes ?? {}).some(isBroken), 'scopes');
}
