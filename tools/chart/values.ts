import {
  closed,
  flag,
  integer,
  labels,
  map,
  object,
  objects,
  programInteger,
  section,
  text,
  texts,
  word,
} from './value-kinds.ts';
import type { Members, Value } from './value-kinds.ts';
import {
  clusterId,
  givenName,
  host,
  hostAndPort,
  ip4,
  ip6,
  keyOfSecret,
  name,
  namespaceName,
  network,
  peers,
  url,
  variable,
} from './value-schemas.ts';

/** Every setting of the chart, in the order of values.yaml and of the table in its README. */
export const chartValues: Members = {
  publicUrl: text(
    '',
    'Address of the public port from outside, such as `https://auth.example.com`. A box is at `/boxes/<namespace>` below it, and issuers begin with it. Empty: the address of the Service inside the cluster, which is enough for apps in the cluster',
    url,
  ),
  image: image('boxgate', 'Image of every program. Empty tag: the version of the chart'),
  imagePullSecrets: objects([], 'Secrets for pulling the images: `[{name: …}]`', closed(['name'], ['name'])),
  commonLabels: labels(
    'Labels of every object and pod. Those by which a workload finds its pods (`app.kubernetes.io/name`, `app.kubernetes.io/component`) are refused',
  ),
  commonAnnotations: map('Annotations of every object'),
  clusterDomain: text('cluster.local', 'Domain of the Services of the cluster', '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'),
  logLevel: word('info', ['debug', 'info', 'warn', 'error'], 'Lines that the programs log'),
  listenAddress: text(
    '0.0.0.0',
    'Address that the programs listen on; `::` in a cluster with IPv6 only',
    `^(${ip4}|${ip6})$`,
  ),
  crds: section('Custom resource definitions', {
    install: flag(true, 'Install and upgrade them with the chart. They stay when the chart is uninstalled'),
  }),
  rbac: section('Rights', {
    create: flag(
      true,
      'Create the roles and bindings of the operator. False: somebody applies operator/rbac. The Jobs for keys and for `helm uninstall` have roles of their own',
    ),
    boxes: section('Where the operator may hold Secrets of clients (ClusterRole `boxgate-box`)', {
      namespaces: texts('Namespaces in which the role is bound; they must exist', namespaceName),
      clusterWide: flag(false, 'Bind it in the whole cluster: the operator then may read and write every Secret'),
    }),
  }),
  tenantRoles: section('ClusterRoles `boxgate-view` and `boxgate-edit` on boxes, clients, policies and groups', {
    create: flag(true, 'Create them. They give nobody a right until somebody binds them'),
    aggregate: flag(
      false,
      'Add them to the roles `view`, `edit` and `admin` of Kubernetes. Whoever has one of these in a namespace then reads, or controls, its box',
    ),
  }),
  keys: section('Keys of the installation', {
    create: flag(true, 'Create the Secret once, by a Job. False: you provide it'),
    secretName: text(
      'boxgate-keys',
      'Secret with `management-keys`, `digest-key`, `encryption-key`, `tls.crt`, `tls.key`, `ca.crt`',
      givenName,
    ),
    rotationJobs: flag(
      true,
      'Create a suspended CronJob for each rotation, for `kubectl create job --from`; only with `keys.create`',
    ),
  }),
  tls: section('TLS of the public port', {
    secretName: text(
      '',
      'Secret in the format of cert-manager (`tls.crt`, `tls.key`). Empty: plain HTTP behind a gateway that ends TLS',
      name,
    ),
  }),
  database: section('An existing Postgres 15 to 18 (only with `postgres.bundled.enabled=false`)', {
    owner: section('Access as the owner of the schema, for migrations only', {
      secretName: text(
        '',
        'Secret with the URL of the owner; that of CloudNativePG (`<cluster>-app`) works as it is',
        name,
      ),
      key: text('uri', 'Key of the URL in that Secret', keyOfSecret),
    }),
    api: section('Access as the role of the API, which reads and writes rows', {
      secretName: text('', 'Secret with the URL of another role than the owner', name),
      key: text('uri', 'Key of the URL in that Secret', keyOfSecret),
    }),
    caSecretName: text(
      '',
      'Secret with the authority of Postgres under `ca.crt`; that of CloudNativePG (`<cluster>-ca`) works as it is. The API and the migration then demand TLS, and verify certificate and host. Empty: the URLs decide',
      name,
    ),
    createApiRole: flag(false, 'Let the migration create the role of the API; the owner then needs CREATEROLE'),
  }),
  postgres: section('A Postgres for evaluation', {
    bundled: section('One Postgres 18 without a standby or a backup: for evaluation only', {
      enabled: flag(true, 'Run it in this namespace'),
      image: image('postgres', 'Its image', '18'),
      runAsUser: integer(999, 1, 'User and group of its process'),
      storage: section('Its volume', {
        size: text('8Gi', 'Size', '^[1-9][0-9]*(Ki|Mi|Gi|Ti)$'),
        className: text('', 'Storage class; empty: the default of the cluster', name),
      }),
      resources: resources('100m', '128Mi', '512Mi', 'Requests and limits'),
      ...placement(),
    }),
  }),
  migrate: section('The Job that brings the database to the schema of the release', {
    enabled: flag(true, 'Create it. False: you run `boxgate migrate` yourself'),
    waitSeconds: integer(300, 0, 'Seconds that it waits for the database', 3_600),
    backoffLimit: integer(4, 0, 'Attempts after the first one', 100),
    resources: resources('10m', '96Mi', '256Mi', 'Requests and limits'),
  }),
  jobs: section('Every Job, and the pod of `helm test`', {
    resources: resources('10m', '96Mi', '256Mi', 'Requests and limits; those of the migration are `migrate.resources`'),
    annotations: map('Annotations of the Jobs'),
    ...placement(),
    ...serviceAccount('Their ServiceAccounts; that of the migration is the one of the API'),
    extraInitContainers: extraContainers(
      'Further containers that run before the own one; with `restartPolicy: Always` beside it',
    ),
    extraVolumes: extraVolumes(),
    extraVolumeMounts: extraVolumeMounts(),
  }),
  api: section('The API', {
    replicas: integer(2, 1, 'Pods; ignored with autoscaling'),
    autoscaling: section('Scaling by CPU', {
      enabled: flag(false, 'Create a HorizontalPodAutoscaler'),
      minReplicas: integer(2, 1, 'Pods at least'),
      maxReplicas: integer(10, 1, 'Pods at most'),
      targetCPUUtilizationPercentage: integer(75, 1, 'Percent of the requested CPU'),
    }),
    trustedProxies: texts(
      'Addresses or networks of your proxies alone, such as `10.42.7.0/28`: whoever calls from there names the address of its caller (`X-Forwarded-For`). The network of all pods lets every pod do that',
      network,
    ),
    poolSize: programInteger(1, 100, 'Connections to Postgres of each of two pools; null: 4'),
    hashThreads: programInteger(
      1,
      64,
      'argon2 computations at once; null: one less than there are cores, at most 4 of them in effect',
    ),
    revocationsNeedStandby: flag(false, 'Answer a revocation only when a synchronous standby has it'),
    failuresPerClient: programInteger(
      1,
      1_000_000,
      'Failed authentications a minute for a client and address; null: 20',
    ),
    failuresPerBox: programInteger(1, 1_000_000, 'The same for all clients of a box; null: 100'),
    failuresPerSecret: programInteger(1, 1_000_000, 'Failures an hour for the chosen secret of a client; null: 1000'),
    failuresPerAccount: programInteger(1, 1_000_000, 'Wrong passwords in 15 minutes for an account; null: 100'),
    jwksHosts: texts('Hosts from which the keys of clients (`jwks_uri`) may be fetched', hostAndPort),
    resourcesInMemory: programInteger(
      1_000,
      10_000_000,
      'Memory for configuration, in clients of the usual size; null: 100000',
    ),
    resources: resources('100m', '192Mi', '512Mi', 'Requests and limits of a pod'),
    ...workload('Its ServiceAccount, which the migration has, too'),
  }),
  operator: section('The operator', {
    replicas: integer(2, 1, 'Pods; one of them leads'),
    clusterId: text('', 'ID of this cluster in the database; empty: the uid of the namespace `kube-system`', clusterId),
    adoptCluster: text('', 'ID of an older cluster whose rows and boxes this one takes over', clusterId),
    leaseSeconds: programInteger(2, 300, 'Seconds without a sign of the leader until another one leads; null: 15'),
    sweepSeconds: programInteger(1, 3_600, 'Seconds between comparisons of everything; null: 45'),
    usageSeconds: programInteger(1, 86_400, 'Seconds between looks at the use of clients; null: 3600'),
    holdSeconds: programInteger(1, 600, 'Seconds that a deletion waits for an API that is away; null: 60'),
    relistSeconds: programInteger(1, 86_400, 'Seconds between complete lists; null: 300'),
    resources: resources('20m', '96Mi', '256Mi', 'Requests and limits of a pod'),
    ...workload('Its ServiceAccount, if `rbac.create`'),
  }),
  service: section('The public Service `boxgate-api`', {
    type: word('ClusterIP', ['ClusterIP', 'NodePort', 'LoadBalancer'], 'Its type'),
    annotations: map('Its annotations'),
    nodePort: programInteger(1, 65_535, 'Port of the nodes, for NodePort and LoadBalancer; null: Kubernetes chooses'),
    loadBalancerClass: text('', 'Class of a LoadBalancer; empty: the default of the cluster'),
    loadBalancerIP: text('', 'Address of a LoadBalancer, where the cloud supports it', `^(${ip4}|${ip6})?$`),
    loadBalancerSourceRanges: texts('Networks that reach a LoadBalancer; empty: all', network),
    externalTrafficPolicy: word('Cluster', ['Cluster', 'Local'], 'For NodePort and LoadBalancer'),
    ipFamilyPolicy: word(
      '',
      ['', 'SingleStack', 'PreferDualStack', 'RequireDualStack'],
      'Families of addresses, also of the Service `boxgate-management`; empty: the default of the cluster',
    ),
    ipFamilies: texts('`IPv4`, `IPv6` or both, in order; empty: the default of the cluster', '^IPv[46]$'),
  }),
  ingress: section('An Ingress to the public port', {
    enabled: flag(false, 'Create it'),
    className: text('', 'Its class; empty: the default of the cluster', name),
    annotations: map('Its annotations'),
    hosts: texts('Hosts; empty: the host of `publicUrl`', host),
    tlsSecretName: text('', 'Secret with the certificate of these hosts; empty: no TLS at the Ingress', name),
  }),
  httpRoute: section('An HTTPRoute (Gateway API) to the public port', {
    enabled: flag(false, 'Create it'),
    annotations: map('Its annotations'),
    parentRefs: objects(
      [],
      'Gateways: `[{name: …, namespace: …}]`',
      closed(['group', 'kind', 'namespace', 'name', 'sectionName', 'port'], ['name']),
    ),
    hostnames: texts('Hosts; empty: the host of `publicUrl`', host),
  }),
  networkPolicy: section('NetworkPolicies', {
    enabled: flag(true, 'Deny everything that the programs do not need'),
    publicFrom: objects([], 'Peers that reach the public port; empty: everybody', peers),
    metricsFrom: objects(
      [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      'Peers that read metrics, if `metrics.serviceMonitor.enabled`; empty: nobody',
      peers,
    ),
    dnsPorts: ports([53, 5353], 'Ports of DNS servers, UDP and TCP; that of OpenShift is 5353', 1),
    apiServer: section('Destination of calls of the Kubernetes API', {
      to: objects([], 'Peers; empty: everywhere', peers),
      ports: ports([443, 6443], 'Ports; empty: none'),
    }),
    database: section('Destination of Postgres, if it is not the bundled one', {
      to: objects([], 'Peers; empty: everywhere', peers),
      ports: ports([5432], 'Ports; empty: none'),
    }),
    jwks: section('Destination of the hosts in `api.jwksHosts`, if there are any', {
      to: objects([], 'Peers; empty: everywhere', peers),
      ports: ports([443], 'Ports; empty: none'),
    }),
  }),
  metrics: section('Monitoring', {
    serviceMonitor: section('ServiceMonitors of the Prometheus operator', {
      enabled: flag(false, 'Create them'),
      interval: text('30s', 'Time between scrapes', '^[1-9][0-9]*(ms|s|m)$'),
      labels: labels('Their labels, for the selector of your Prometheus'),
    }),
    prometheusRule: section('Alerts of the Prometheus operator', {
      enabled: flag(false, 'Create them'),
      labels: labels('Their labels'),
      runbookUrl: text('', 'Address that the anchor of an alert is added to; empty: no link', url),
    }),
    dashboard: section('A dashboard for Grafana', {
      enabled: flag(false, 'Create a ConfigMap for the sidecar of Grafana'),
      labels: labels('Its labels', { grafana_dashboard: '1' }),
    }),
  }),
  test: section('`helm test`', {
    enabled: flag(true, 'Create the pod that requests a token'),
  }),
  extraObjects: objects(
    [],
    'Further objects, such as an ExternalSecret with the keys; `{{ .Release.Namespace }}` and other templates in them are rendered',
    { required: ['apiVersion', 'kind', 'metadata'] },
  ),
  enabled: flag(true, 'Condition of a parent chart, which Helm reads there; not used'),
  global: object({}, 'Values of a parent chart; not used'),
};

function image(repository: string, description: string, tag = ''): Members[string] {
  const part = '[a-z0-9]+([._-]+[a-z0-9]+)*';
  const registry = String.raw`([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]+)?/`;
  return section(description, {
    repository: text(
      repository,
      'Repository, with the host of its registry, without a tag',
      `^(${registry})?${part}(/${part})*$`,
    ),
    tag: text(tag, 'Tag', '^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$'),
    digest: text('', 'Digest, such as `sha256:…`; it is used in place of the tag', '^(sha256:[0-9a-f]{64})?$'),
    pullPolicy: word('IfNotPresent', ['Always', 'IfNotPresent', 'Never'], 'When it is pulled'),
  });
}

function resources(cpu: string, memory: string, memoryLimit: string, description: string): Value {
  const quantities = { type: 'object', additionalProperties: { type: ['string', 'number'], pattern: '^[0-9]' } };
  const schema = {
    additionalProperties: false,
    properties: { requests: quantities, limits: quantities, claims: { type: 'array' } },
  };
  return object({ requests: { cpu, memory }, limits: { memory: memoryLimit } }, description, schema);
}

/** Ports of a NetworkPolicy; `minItems` may demand one. */
function ports(initial: readonly number[], description: string, minItems = 0): Value {
  const items = { type: 'integer', minimum: 1, maximum: 65_535 };
  return { schema: { type: 'array', items, ...(minItems > 0 && { minItems }) }, initial, description };
}

/** The settings of where pods run, and what they carry. */
function placement(): Members {
  return {
    nodeSelector: labels('Labels of the nodes'),
    tolerations: objects([], 'Tolerations', closed(['key', 'operator', 'value', 'effect', 'tolerationSeconds'])),
    affinity: object({}, 'Affinity', closed(['nodeAffinity', 'podAffinity', 'podAntiAffinity'])),
    priorityClassName: text('', 'Priority class', name),
    podAnnotations: map('Annotations of the pods'),
    podLabels: labels('Labels of the pods'),
  };
}

function serviceAccount(title: string): Members {
  return { serviceAccount: section(title, { annotations: map('Annotations') }) };
}

function extraContainers(description: string): Value {
  return objects([], description, { required: ['name', 'image'] });
}

function extraVolumes(): Value {
  return objects([], 'Further volumes', { required: ['name'] });
}

function extraVolumeMounts(): Value {
  return objects([], 'Further mounts of the container', { required: ['name', 'mountPath'] });
}

/** The settings of a Deployment. */
function workload(account: string): Members {
  return {
    podDisruptionBudget: section('Voluntary disruptions', {
      enabled: flag(true, 'Create a PodDisruptionBudget'),
      maxUnavailable: {
        schema: { type: ['integer', 'string'], minimum: 1, pattern: '^([1-9][0-9]?|100)%$' },
        initial: 1,
        description: 'Pods that may be away at once, at least one, or a part of them such as `25%`',
      },
    }),
    ...placement(),
    topologySpreadConstraints: objects(
      ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
      })),
      'Spread of the pods; the selector is added',
      closed(
        [
          ...['maxSkew', 'topologyKey', 'whenUnsatisfiable', 'labelSelector', 'matchLabelKeys', 'minDomains'],
          ...['nodeAffinityPolicy', 'nodeTaintsPolicy'],
        ],
        ['maxSkew', 'topologyKey', 'whenUnsatisfiable'],
      ),
    ),
    annotations: map('Annotations of the Deployment'),
    ...serviceAccount(account),
    extraEnv: objects(
      [],
      'Further variables: `[{name: …, value: …}]`; one that the chart sets as well is used in place of that',
      variable,
    ),
    extraContainers: extraContainers('Further containers of the pods'),
    extraInitContainers: extraContainers('Further containers that run before the own one'),
    extraVolumes: extraVolumes(),
    extraVolumeMounts: extraVolumeMounts(),
    terminationGracePeriodSeconds: integer(30, 20, 'Seconds for requests in progress when a pod ends'),
  };
}
