import { flag, integer, map, object, objects, programInteger, section, text, texts, word } from './value-kinds.ts';
import type { Members, Value } from './value-kinds.ts';

const name = '^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$';
const url = '^(https?://[^?#@]+)?$';

/** Every setting of the chart, in the order of values.yaml and of the table in its README. */
export const chartValues: Members = {
  publicUrl: text(
    '',
    'Address of the public port from outside, such as `https://auth.example.com`. A box is at `/boxes/<namespace>` below it, and issuers begin with it. Empty: the address of the Service inside the cluster, which is enough for apps in the cluster',
    url,
  ),
  image: image('boxgate', 'Image of every program. Empty tag: the version of the chart'),
  imagePullSecrets: objects([], 'Secrets for pulling the images: `[{name: …}]`'),
  commonLabels: map('Labels of every object and pod'),
  commonAnnotations: map('Annotations of every object'),
  clusterDomain: text('cluster.local', 'Domain of the Services of the cluster', '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'),
  logLevel: word('info', ['debug', 'info', 'warn', 'error'], 'Lines that the programs log'),
  listenAddress: text(
    '0.0.0.0',
    'Address that the programs listen on; `::` in a cluster with IPv6 only',
    '^[0-9a-f.:]+$',
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
      namespaces: texts('Namespaces in which the role is bound; they must exist'),
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
      name,
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
      key: text('uri', 'Key of the URL in that Secret'),
    }),
    api: section('Access as the role of the API, which reads and writes rows', {
      secretName: text('', 'Secret with the URL of another role than the owner', name),
      key: text('uri', 'Key of the URL in that Secret'),
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
        size: text('8Gi', 'Size', '^[0-9]+(Ki|Mi|Gi|Ti)$'),
        className: text('', 'Storage class; empty: the default of the cluster'),
      }),
      resources: resources('100m', '128Mi', '512Mi', 'Requests and limits'),
      ...placement(),
    }),
  }),
  migrate: section('The Job that brings the database to the schema of the release', {
    enabled: flag(true, 'Create it. False: you run `boxgate migrate` yourself'),
    waitSeconds: integer(300, 0, 'Seconds that it waits for the database'),
    backoffLimit: integer(4, 0, 'Attempts after the first one'),
    resources: resources('10m', '96Mi', '256Mi', 'Requests and limits'),
  }),
  jobs: section('Every Job, and the pod of `helm test`', nodes()),
  api: section('The API', {
    replicas: integer(2, 1, 'Pods; ignored with autoscaling'),
    autoscaling: section('Scaling by CPU', {
      enabled: flag(false, 'Create a HorizontalPodAutoscaler'),
      minReplicas: integer(2, 1, 'Pods at least'),
      maxReplicas: integer(10, 1, 'Pods at most'),
      targetCPUUtilizationPercentage: integer(75, 1, 'Percent of the requested CPU'),
    }),
    trustedProxies: texts('Networks whose `X-Forwarded-For` is trusted, such as `10.0.0.0/8`'),
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
    jwksHosts: texts('Hosts from which the keys of clients (`jwks_uri`) may be fetched'),
    resourcesInMemory: programInteger(
      1_000,
      10_000_000,
      'Memory for configuration, in clients of the usual size; null: 100000',
    ),
    resources: resources('100m', '128Mi', '512Mi', 'Requests and limits of a pod'),
    ...workload(),
  }),
  operator: section('The operator', {
    replicas: integer(2, 1, 'Pods; one of them leads'),
    clusterId: text('', 'ID of this cluster in the database; empty: the uid of the namespace `kube-system`'),
    adoptCluster: text('', 'ID of an older cluster whose rows and boxes this one takes over'),
    leaseSeconds: programInteger(2, 300, 'Seconds without a sign of the leader until another one leads; null: 15'),
    sweepSeconds: programInteger(1, 3_600, 'Seconds between comparisons of everything; null: 45'),
    usageSeconds: programInteger(1, 86_400, 'Seconds between looks at the use of clients; null: 3600'),
    holdSeconds: programInteger(1, 600, 'Seconds that a deletion waits for an API that is away; null: 60'),
    relistSeconds: programInteger(1, 86_400, 'Seconds between complete lists; null: 300'),
    resources: resources('20m', '96Mi', '256Mi', 'Requests and limits of a pod'),
    ...workload(),
  }),
  service: section('The public Service `boxgate-api`', {
    type: word('ClusterIP', ['ClusterIP', 'NodePort', 'LoadBalancer'], 'Its type'),
    annotations: map('Its annotations'),
    loadBalancerClass: text('', 'Class of a LoadBalancer; empty: the default of the cluster'),
    externalTrafficPolicy: word('Cluster', ['Cluster', 'Local'], 'For NodePort and LoadBalancer'),
  }),
  ingress: section('An Ingress to the public port', {
    enabled: flag(false, 'Create it'),
    className: text('', 'Its class; empty: the default of the cluster'),
    annotations: map('Its annotations'),
    hosts: texts('Hosts; empty: the host of `publicUrl`'),
    tlsSecretName: text('', 'Secret with the certificate of these hosts; empty: no TLS at the Ingress', name),
  }),
  httpRoute: section('An HTTPRoute (Gateway API) to the public port', {
    enabled: flag(false, 'Create it'),
    annotations: map('Its annotations'),
    parentRefs: objects([], 'Gateways: `[{name: …, namespace: …}]`'),
    hostnames: texts('Hosts; empty: the host of `publicUrl`'),
  }),
  networkPolicy: section('NetworkPolicies', {
    enabled: flag(true, 'Deny everything that the programs do not need'),
    publicFrom: objects([], 'Peers that reach the public port; empty: everybody'),
    metricsFrom: objects(
      [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      'Peers that read metrics, if `metrics.serviceMonitor.enabled`',
    ),
    dnsPorts: ports([53, 5353], 'Ports of DNS servers, UDP and TCP; that of OpenShift is 5353', 1),
    apiServer: section('Destination of calls of the Kubernetes API', {
      to: objects([], 'Peers; empty: everywhere'),
      ports: ports([443, 6443], 'Ports'),
    }),
    database: section('Destination of Postgres, if it is not the bundled one', {
      to: objects([], 'Peers; empty: everywhere'),
      ports: ports([5432], 'Ports'),
    }),
    jwks: section('Destination of the hosts in `api.jwksHosts`, if there are any', {
      to: objects([], 'Peers; empty: everywhere'),
      ports: ports([443], 'Ports'),
    }),
  }),
  metrics: section('Monitoring', {
    serviceMonitor: section('ServiceMonitors of the Prometheus operator', {
      enabled: flag(false, 'Create them'),
      interval: text('30s', 'Time between scrapes', '^[0-9]+(ms|s|m)$'),
      labels: map('Their labels, for the selector of your Prometheus'),
    }),
    prometheusRule: section('Alerts of the Prometheus operator', {
      enabled: flag(false, 'Create them'),
      labels: map('Their labels'),
      runbookUrl: text('', 'Address that the anchor of an alert is added to; empty: no link', url),
    }),
    dashboard: section('A dashboard for Grafana', {
      enabled: flag(false, 'Create a ConfigMap for the sidecar of Grafana'),
      labels: {
        ...map('Its labels'),
        initial: { grafana_dashboard: '1' },
      },
    }),
  }),
  test: section('`helm test`', {
    enabled: flag(true, 'Create the pod that requests a token'),
  }),
  global: object({}, 'Values of a parent chart; not used'),
};

function image(repository: string, description: string, tag = ''): Members[string] {
  return section(description, {
    repository: text(repository, 'Repository, with the host of its registry', '^[a-z0-9]'),
    tag: text(tag, 'Tag'),
    digest: text('', 'Digest, such as `sha256:…`; it is used in place of the tag', '^(sha256:[0-9a-f]{64})?$'),
    pullPolicy: word('IfNotPresent', ['Always', 'IfNotPresent', 'Never'], 'When it is pulled'),
  });
}

function resources(cpu: string, memory: string, memoryLimit: string, description: string): Value {
  return object({ requests: { cpu, memory }, limits: { memory: memoryLimit } }, description);
}

/** Ports of a NetworkPolicy, which allows every port where the list is empty: `minItems` may exclude that. */
function ports(initial: readonly number[], description: string, minItems = 0): Value {
  const items = { type: 'integer', minimum: 1, maximum: 65_535 };
  return { schema: { type: 'array', items, ...(minItems > 0 && { minItems }) }, initial, description };
}

/** The settings of where pods run. */
function nodes(): Members {
  return {
    nodeSelector: map('Labels of the nodes'),
    tolerations: objects([], 'Tolerations'),
    affinity: object({}, 'Affinity'),
    priorityClassName: text('', 'Priority class'),
  };
}

/** The same, and what the pods carry. */
function placement(): Members {
  return {
    ...nodes(),
    podAnnotations: map('Annotations of the pods'),
    podLabels: map('Labels of the pods'),
  };
}

/** The settings of a Deployment. */
function workload(): Members {
  return {
    podDisruptionBudget: section('Voluntary disruptions', {
      enabled: flag(true, 'Create a PodDisruptionBudget'),
      maxUnavailable: integer(1, 0, 'Pods that may be away at once'),
    }),
    ...placement(),
    topologySpreadConstraints: objects(
      ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
      })),
      'Spread of the pods; the selector is added',
    ),
    annotations: map('Annotations of the Deployment'),
    extraEnv: objects([], 'Further variables: `[{name: …, value: …}]`'),
    extraVolumes: objects([], 'Further volumes'),
    extraVolumeMounts: objects([], 'Further mounts of the container'),
    terminationGracePeriodSeconds: integer(30, 20, 'Seconds for requests in progress when a pod ends'),
  };
}
