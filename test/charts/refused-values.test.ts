import { expect } from 'chai';
import { renderChart } from '../../tools/chart/render.ts';

/** Returns what helm says against values. */
const refusal = async (...values: readonly string[]): Promise<string> => {
  return renderChart(values).then(
    () => 'not refused',
    (error: unknown) => String(error),
  );
};

describe('charts/boxgate with wrong values', () => {
  const misspelled: readonly (readonly [value: string, said: string])[] = [
    ['api.replica=3', "at '/api': additional properties 'replica' not allowed"],
    ['postgres.bundeld.enabled=false', "at '/postgres': additional properties 'bundeld' not allowed"],
    ['operator.podDisruptionBudget.enable=true', "additional properties 'enable' not allowed"],
    ['api.replicas=two', "at '/api/replicas': got string, want integer"],
    ['api.poolSize=101', "at '/api/poolSize'"],
    ['logLevel=loud', "at '/logLevel'"],
    ['publicUrl=auth.example.com', "at '/publicUrl'"],
  ];
  for (const [value, said] of misspelled) {
    it(`rejects ${value} and names it`, async () => {
      expect(await refusal(value)).to.contain(said);
    });
  }

  // E-30: these were accepted, and pods failed at their start, or the value did nothing.
  const wrong: readonly (readonly [value: string, place: string])[] = [
    ['api.trustedProxies=["ingress"]', '/api/trustedProxies/0'],
    ['api.trustedProxies=["10.0.0.0/33"]', '/api/trustedProxies/0'],
    ['api.trustedProxies=["10.0.0.0/8,192.168.0.0/16"]', '/api/trustedProxies/0'],
    ['api.trustedProxies=["fd00::/129"]', '/api/trustedProxies/0'],
    ['api.jwksHosts=["https://keys.example.com"]', '/api/jwksHosts/0'],
    ['image.repository="images.example.com/boxgate:dev"', '/image/repository'],
    ['image.repository="images.example.com/boxgate@sha256:0"', '/image/repository'],
    ['image.tag="a b"', '/image/tag'],
    ['postgres.bundled.image.repository="postgres:17"', '/postgres/bundled/image/repository'],
    ['postgres.bundled.storage.size="0Gi"', '/postgres/bundled/storage/size'],
    ['api.extraEnv=[{"name":"BOXGATE_POOLSIZE","value":"8"}]', '/api/extraEnv/0/name'],
    ['api.extraEnv=[{"name":"A","valeu":"8"}]', '/api/extraEnv/0'],
    ['api.extraEnv=[{"name":"A","value":8}]', '/api/extraEnv/0/value'],
    ['operator.extraEnv=[{"value":"8"}]', '/operator/extraEnv/0'],
    ['api.podDisruptionBudget.maxUnavailable=0', '/api/podDisruptionBudget/maxUnavailable'],
    ['operator.podDisruptionBudget.maxUnavailable="0%"', '/operator/podDisruptionBudget/maxUnavailable'],
    ['publicUrl="https://auth example.com"', '/publicUrl'],
    ['publicUrl="https://auth.example.com:port"', '/publicUrl'],
    ['listenAddress="1.2.3"', '/listenAddress'],
    ['keys.secretName=""', '/keys/secretName'],
    ['database.api.key="a key"', '/database/api/key'],
    ['rbac.boxes.namespaces=["Shop"]', '/rbac/boxes/namespaces/0'],
    ['rbac.boxes.namespaces=["shop","shop"]', '/rbac/boxes/namespaces'],
    ['api.resources={"limit":{"memory":"1Gi"}}', '/api/resources'],
    ['api.resources={"limits":{"memory":"much"}}', '/api/resources/limits/memory'],
    ['api.tolerations=[{"keys":"a"}]', '/api/tolerations/0'],
    ['api.topologySpreadConstraints=[{"topologyKey":"zone"}]', '/api/topologySpreadConstraints/0'],
    ['api.affinity={"podAfinity":{}}', '/api/affinity'],
    ['api.podLabels={"team":"a team"}', '/api/podLabels/team'],
    ['commonLabels={"a team":"x"}', 'a team'],
    ['imagePullSecrets=[{"nam":"pull"}]', '/imagePullSecrets/0'],
    ['ingress.hosts=["https://auth.example.com"]', '/ingress/hosts/0'],
    ['httpRoute.parentRefs=[{"gateway":"web"}]', '/httpRoute/parentRefs/0'],
    ['networkPolicy.publicFrom=[{"podselector":{}}]', '/networkPolicy/publicFrom/0'],
    ['networkPolicy.apiServer.to=[{"ipBlock":{"cidr":"10.1.2.3"}}]', '/networkPolicy/apiServer/to/0/ipBlock/cidr'],
    ['networkPolicy.database.to=[{}]', '/networkPolicy/database/to/0'],
    ['metrics.serviceMonitor.interval="0s"', '/metrics/serviceMonitor/interval'],
    ['migrate.waitSeconds=3601', '/migrate/waitSeconds'],
    ['operator.clusterId="a cluster"', '/operator/clusterId'],
    ['service.nodePort=70000', '/service/nodePort'],
    ['service.loadBalancerSourceRanges=["everybody"]', '/service/loadBalancerSourceRanges/0'],
    ['extraObjects=[{"kind":"ConfigMap"}]', '/extraObjects/0'],
  ];
  it('refuses values that cannot work, each with its place', async () => {
    for (const [value, place] of wrong) {
      const said = await renderChart([], ['--set-json', value]).then(() => 'not refused', String);
      expect(said, value).to.contain(`'${place}'`);
    }
  });

  const contradictions: readonly (readonly [title: string, values: readonly string[], said: string])[] = [
    ['two databases', ['database.api.secretName=x'], 'postgres.bundled.enabled is true: set it to false'],
    [
      'the authority of a database that is not used',
      ['database.caSecretName=x'],
      'database.caSecretName is for an existing Postgres',
    ],
    ['no database', ['postgres.bundled.enabled=false'], 'database.api.secretName is missing'],
    [
      'no owner for migrations',
      ['postgres.bundled.enabled=false', 'database.api.secretName=x'],
      'database.owner.secretName is missing',
    ],
    [
      'the API as the owner',
      ['postgres.bundled.enabled=false', 'database.api.secretName=x', 'database.owner.secretName=x'],
      'the API needs a role of its own',
    ],
    ['no port of DNS', ['networkPolicy.dnsPorts=null'], "at '/networkPolicy': missing property 'dnsPorts'"],
    ['a section that is taken away', ['rbac=null'], "at '': missing property 'rbac'"],
    [
      'a label by which a workload finds its pods',
      [String.raw`api.podLabels.app\.kubernetes\.io/component=x`],
      'api.podLabels has app.kubernetes.io/component',
    ],
    [
      'several Postgres next to the bundled one',
      ['databases[0].name=a,databases[0].api.secretName=a'],
      'databases names existing Postgres, but postgres.bundled.enabled is true',
    ],
    [
      'a Postgres next to several',
      [
        ...['postgres.bundled.enabled=false', 'database.api.secretName=b'],
        'databases[0].name=a,databases[0].api.secretName=a',
      ],
      'database and databases are both set',
    ],
    [
      'one of several Postgres without its owner',
      ['postgres.bundled.enabled=false', 'databases[0].name=a,databases[0].api.secretName=a'],
      'databases[a].owner.secretName is missing',
    ],
    [
      'a database for new boxes that is not among several',
      [
        ...['postgres.bundled.enabled=false', 'migrate.enabled=false', 'defaultDatabase=b'],
        'databases[0].name=a,databases[0].api.secretName=a',
      ],
      'defaultDatabase is b, which is not among databases',
    ],
    [
      'fewer pods at most than at least',
      ['api.autoscaling.minReplicas=3', 'api.autoscaling.maxReplicas=2'],
      'api.autoscaling.maxReplicas is less than api.autoscaling.minReplicas',
    ],
    ['a variable twice', ['api.extraEnv[0].name=A', 'api.extraEnv[1].name=A'], 'api.extraEnv has the variable A twice'],
    ['an Ingress for no host', ['ingress.enabled=true'], 'ingress.hosts is missing'],
    ['a route without a Gateway', ['httpRoute.enabled=true'], 'httpRoute.parentRefs is missing'],
  ];
  for (const [title, values, said] of contradictions) {
    it(`refuses ${title} with one sentence`, async () => {
      expect(await refusal(...values)).to.contain(said);
    });
  }
});
