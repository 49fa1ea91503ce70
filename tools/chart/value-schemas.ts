import { SETTING_NAMES } from '../../program/unknown-settings.ts';

/** A JSON Schema, as far as the chart uses it. */
export type Schema = Readonly<Record<string, unknown>>;

// Regular expressions, which RE2 (Helm) and JavaScript read alike.

/** Name of an object, or nothing. */
const name = '^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$';
const octet = '(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])';
/** Address of IPv4, without the marks of begin and end. */
const ip4 = String.raw`${octet}(\.${octet}){3}`;
const group = '[0-9A-Fa-f]{1,4}';
/** Address of IPv6, likewise; its number of groups is not counted where some are left out. */
const ip6 = `(${group}(:${group}){7}|(${group}(:${group}){0,6})?::(${group}(:${group}){0,6})?)`;
/** Address or network of a proxy. */
const network = `^(${ip4}(/(3[0-2]|[12]?[0-9]))?|${ip6}(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$`;
const hostName = String.raw`[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*`;
/** Host, or a wildcard of hosts. */
const host = String.raw`^(\*\.)?${hostName}$`;
/** Host with or without a port. */
const hostAndPort = String.raw`^(${hostName}|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$`;
/** Address without query, fragment or user, or nothing. */
const url = String.raw`^(https?://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[1-9][0-9]{0,4})?(/[^?#@\s]*)?)?$`;
const cidr = { type: 'string', pattern: `^(${ip4}/(3[0-2]|[12]?[0-9])|${ip6}/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))$` };

const part = '[a-z0-9]+([._-]+[a-z0-9]+)*';
const registry = String.raw`([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]+)?/`;

const peers = objects({
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
});

const ports = { type: 'array', items: { type: 'integer', minimum: 1, maximum: 65_535 } };

/** Secret and key of the URL of one role in a database. */
const access = {
  type: 'object',
  additionalProperties: false,
  properties: { secretName: text('^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$'), key: text('^[A-Za-z0-9._-]+$') },
  required: ['secretName'],
};

const keys = {
  type: 'object',
  propertyNames: { pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$' },
};
const annotations = { ...keys, additionalProperties: { type: 'string' } };
const labels = {
  ...keys,
  additionalProperties: { type: 'string', pattern: '^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$' },
};

const quantities = { type: 'object', additionalProperties: { type: ['string', 'number'], pattern: '^[0-9]' } };

/**
 * Schemas of the values whose type does not say enough, by the end of their path in values.yaml: the longest counts.
 * The API server checks the members of objects of Kubernetes.
 */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  publicUrl: text(url),
  runbookUrl: text(url),
  'image.repository': text(`^(${registry})?${part}(/${part})*$`),
  'image.tag': text('^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$'),
  'image.digest': text('^(sha256:[0-9a-f]{64})?$'),
  pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
  imagePullSecrets: objects(closed(['name'], ['name'])),
  commonLabels: labels,
  podLabels: labels,
  nodeSelector: labels,
  labels,
  commonAnnotations: annotations,
  podAnnotations: annotations,
  annotations,
  clusterDomain: text('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'),
  logLevel: { enum: ['debug', 'info', 'warn', 'error'] },
  listenAddress: text(`^(${ip4}|${ip6})$`),
  'boxes.namespaces': texts('^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  'keys.secretName': text('^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$'),
  secretName: text(name),
  caSecretName: text(name),
  databases: objects({
    additionalProperties: false,
    properties: {
      name: text('^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$'),
      owner: access,
      api: access,
      caSecretName: text(name),
    },
    required: ['name', 'api'],
  }),
  defaultDatabase: text('^([a-z]([a-z0-9-]{0,30}[a-z0-9])?)?$'),
  tlsSecretName: text(name),
  className: text(name),
  priorityClassName: text(name),
  key: text('^[A-Za-z0-9._-]+$'),
  size: text('^[1-9][0-9]*(Ki|Mi|Gi|Ti)$'),
  resources: {
    type: 'object',
    additionalProperties: false,
    properties: { requests: quantities, limits: quantities, claims: { type: 'array' } },
  },
  tolerations: objects(closed(['key', 'operator', 'value', 'effect', 'tolerationSeconds'])),
  affinity: { type: 'object', ...closed(['nodeAffinity', 'podAffinity', 'podAntiAffinity']) },
  waitSeconds: integer(0, 3_600),
  backoffLimit: integer(0, 100),
  extraContainers: objects({ required: ['name', 'image'] }),
  extraInitContainers: objects({ required: ['name', 'image'] }),
  extraVolumes: objects({ required: ['name'] }),
  extraVolumeMounts: objects({ required: ['name', 'mountPath'] }),
  extraEnv: objects({
    additionalProperties: false,
    properties: {
      name: {
        type: 'string',
        pattern: '^[A-Za-z_][A-Za-z0-9_.-]*$',
        // No program reads another one.
        if: { pattern: '^BOXGATE_' },
        then: { enum: SETTING_NAMES },
      },
      value: { type: 'string' },
      valueFrom: { type: 'object' },
    },
    required: ['name'],
  }),
  maxUnavailable: { type: ['integer', 'string'], minimum: 1, pattern: '^([1-9][0-9]?|100)%$' },
  topologySpreadConstraints: objects(
    closed(
      [
        ...['maxSkew', 'topologyKey', 'whenUnsatisfiable', 'labelSelector', 'matchLabelKeys', 'minDomains'],
        ...['nodeAffinityPolicy', 'nodeTaintsPolicy'],
      ],
      ['maxSkew', 'topologyKey', 'whenUnsatisfiable'],
    ),
  ),
  terminationGracePeriodSeconds: integer(20),
  trustedProxies: texts(network),
  poolSize: orDefault(1, 100),
  hashThreads: orDefault(1, 64),
  failuresPerClient: orDefault(1, 1_000_000),
  failuresPerBox: orDefault(1, 1_000_000),
  failuresPerSecret: orDefault(1, 1_000_000),
  failuresPerAccount: orDefault(1, 1_000_000),
  jwksHosts: texts(hostAndPort),
  resourcesInMemory: orDefault(1_000, 10_000_000),
  clusterId: text('^[A-Za-z0-9._-]{0,128}$'),
  adoptCluster: text('^[A-Za-z0-9._-]{0,128}$'),
  leaseSeconds: orDefault(2, 300),
  sweepSeconds: orDefault(1, 3_600),
  usageSeconds: orDefault(1, 86_400),
  holdSeconds: orDefault(1, 600),
  relistSeconds: orDefault(1, 86_400),
  'service.type': { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
  nodePort: orDefault(1, 65_535),
  loadBalancerIP: text(`^(${ip4}|${ip6})?$`),
  loadBalancerSourceRanges: texts(network),
  externalTrafficPolicy: { enum: ['Cluster', 'Local'] },
  ipFamilyPolicy: { enum: ['', 'SingleStack', 'PreferDualStack', 'RequireDualStack'] },
  ipFamilies: texts('^IPv[46]$'),
  hosts: texts(host),
  hostnames: texts(host),
  parentRefs: objects(closed(['group', 'kind', 'namespace', 'name', 'sectionName', 'port'], ['name'])),
  publicFrom: peers,
  metricsFrom: peers,
  to: peers,
  dnsPorts: { ...ports, minItems: 1 },
  ports,
  interval: text('^[1-9][0-9]*(ms|s|m)$'),
  extraObjects: objects({ required: ['apiVersion', 'kind', 'metadata'] }),
  global: { type: 'object' },
};

function text(pattern: string): Schema {
  return { type: 'string', pattern };
}

function texts(pattern: string): Schema {
  return { type: 'array', items: { type: 'string', pattern }, uniqueItems: true };
}

/** Returns the schema of an integer. */
export function integer(minimum: number, maximum = 2 ** 31 - 1): Schema {
  return { type: 'integer', minimum, maximum };
}

/** Returns the schema of a setting of a program that is an integer; null: the default of the program. */
function orDefault(minimum: number, maximum: number): Schema {
  return { type: ['integer', 'null'], minimum, maximum };
}

function objects(items: Schema): Schema {
  return { type: 'array', items: { type: 'object', ...items } };
}

/** Returns the schema of an object that has these members and no others. */
function closed(members: readonly string[], required: readonly string[] = []): Schema {
  const properties = Object.fromEntries(members.map((member) => [member, {}]));
  return { additionalProperties: false, properties, ...(required.length > 0 && { required }) };
}
