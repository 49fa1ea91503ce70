import { SETTING_NAMES } from '../../program/unknown-settings.ts';
import type { Schema } from './value-kinds.ts';

// Regular expressions, which RE2 (Helm) and JavaScript read alike.

/** Name of an object. */
export const givenName = '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$';
/** Name of an object, or nothing. */
export const name = '^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$';
/** Name of a namespace. */
export const namespaceName = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$';
/** ID of a cluster, or nothing. */
export const clusterId = '^[A-Za-z0-9._-]{0,128}$';
/** Key of a Secret. */
export const keyOfSecret = '^[A-Za-z0-9._-]+$';
const octet = '(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])';
/** Address of IPv4, without the marks of begin and end. */
export const ip4 = String.raw`${octet}(\.${octet}){3}`;
const group = '[0-9A-Fa-f]{1,4}';
/** Address of IPv6, likewise; its number of groups is not counted where some are left out. */
export const ip6 = `(${group}(:${group}){7}|(${group}(:${group}){0,6})?::(${group}(:${group}){0,6})?)`;
/** Address or network of a proxy. */
export const network = `^(${ip4}(/(3[0-2]|[12]?[0-9]))?|${ip6}(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$`;
const hostName = String.raw`[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*`;
/** Host, or a wildcard of hosts. */
export const host = String.raw`^(\*\.)?${hostName}$`;
/** Host with or without a port. */
export const hostAndPort = String.raw`^(${hostName}|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$`;
/** Address without query, fragment or user, or nothing. */
export const url = String.raw`^(https?://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[1-9][0-9]{0,4})?(/[^?#@\s]*)?)?$`;
const cidr = { type: 'string', pattern: `^(${ip4}/(3[0-2]|[12]?[0-9])|${ip6}/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))$` };

/** Schema of a peer of a NetworkPolicy. */
export const peers: Schema = {
  additionalProperties: false,
  properties: {
    podSelector: { type: 'object' },
    namespaceSelector: { type: 'object' },
    ipBlock: {
      type: 'object',
      additionalProperties: false,
      properties: { cidr, except: { type: 'array', items: cidr } },
      required: ['cidr'],
    },
  },
  minProperties: 1,
};

/** Schema of a variable of a container; no program reads another `BOXGATE_…`. */
export const variable: Schema = {
  additionalProperties: false,
  properties: {
    name: {
      type: 'string',
      pattern: '^[A-Za-z_][A-Za-z0-9_.-]*$',
      if: { pattern: '^BOXGATE_' },
      then: { enum: SETTING_NAMES },
    },
    value: { type: 'string' },
    valueFrom: { type: 'object' },
  },
  required: ['name'],
};
