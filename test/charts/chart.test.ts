import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readApiConfig, readMigrateConfig } from '../../api/config.ts';
import { isList, isObject } from '../../crds/path.ts';
import { readOperatorConfig } from '../../operator/config.ts';
import { rotations } from '../../operator/keys/rotation.ts';
import { renderChart } from '../../tools/chart/render.ts';
import { neededHelm } from '../../tools/needs/helm.ts';
import { at, environmentOf, manifestOf, manifestsIn, podsOf, type Manifest } from './rendered.ts';
import { variants } from './variants.ts';

const run = promisify(execFile);

const known = new Map<string, Promise<readonly Manifest[]>>();

/** Renders the chart with values, once for all tests: each takes half a second. */
function rendered(values: readonly string[] = []): Promise<readonly Manifest[]> {
  const key = values.join('\n');
  const objects = known.get(key) ?? renderChart(values).then(manifestsIn);
  known.set(key, objects);
  return objects;
}

describe('charts/boxgate', () => {
  it('has no fault that helm lint knows', async () => {
    const { stdout } = await run(neededHelm(), ['lint', '--strict', 'charts/boxgate', '--kube-version', '1.34.0']);
    expect(stdout).to.contain('0 chart(s) failed');
  });

  it('renders the same bytes every time', async () => {
    for (const values of [[], variants['monitoring'] ?? []]) {
      expect(await renderChart(values)).to.equal(await renderChart(values));
    }
  });

  it('gives the programs settings that they accept', async () => {
    for (const values of [[], variants['settings of the programs'] ?? [], variants['TLS to Postgres'] ?? []]) {
      const all = await rendered(values);
      const migrate = all.find(({ kind, name }) => kind === 'Job' && name.startsWith('boxgate-migrate-'));
      readApiConfig(environmentOf(manifestOf(all, 'Deployment', 'boxgate-api'), fromElsewhere));
      readOperatorConfig({
        ...environmentOf(manifestOf(all, 'Deployment', 'boxgate-operator'), fromElsewhere),
        KUBERNETES_SERVICE_HOST: '10.96.0.1',
      });
      readMigrateConfig(environmentOf(migrate?.object, fromElsewhere));
    }
  });

  it('gives the API and the migration each of several databases, home first', async () => {
    const all = await rendered(variants['several Postgres']);
    const urls = {
      ...{ BOXGATE_OWNER_URL: 'postgres://main@main/a', BOXGATE_DATABASE_URL: 'postgres://main_api@main/a' },
      ...{ OWNER_URL_EU_WEST: 'postgres://eu@eu/b', DATABASE_URL_EU_WEST: 'postgres://eu_api@eu/b' },
    };
    const migrate = all.find(({ kind, name }) => kind === 'Job' && name.startsWith('boxgate-migrate-'))?.object;
    const api = manifestOf(all, 'Deployment', 'boxgate-api');
    const verified = '?sslmode=verify-full&sslrootcert=/etc/boxgate/database-eu-west/ca.crt';
    expect(readApiConfig(environmentOf(api, { ...fromElsewhere, ...urls }))).to.deep.include({
      databases: [
        { name: 'main', url: urls.BOXGATE_DATABASE_URL },
        { name: 'eu-west', url: urls.DATABASE_URL_EU_WEST + verified },
      ],
      defaultDatabase: 'eu-west',
    });
    const { databases } = readMigrateConfig(environmentOf(migrate, { ...fromElsewhere, ...urls }));
    expect(databases.map(({ name, ownerUrl }) => [name, ownerUrl])).to.deep.equal([
      ['main', urls.BOXGATE_OWNER_URL],
      ['eu-west', urls.OWNER_URL_EU_WEST + verified],
    ]);
    for (const workload of [api, migrate]) {
      const container = at(workload, 'spec', 'template', 'spec', 'containers', 0);
      const mount = { name: 'database-eu-west-ca', mountPath: '/etc/boxgate/database-eu-west', readOnly: true };
      expect(at(container, 'volumeMounts')).to.deep.include(mount);
      const key = { name: 'eu-api', key: 'url' };
      expect(at(container, 'env')).to.deep.include({ name: 'DATABASE_URL_EU_WEST', valueFrom: { secretKeyRef: key } });
    }
  });

  it('tells the operator of TLS on the public port, and of the domain of the cluster', async () => {
    const configOf = async (...values: readonly string[]) => {
      const operator = manifestOf(await rendered(values), 'Deployment', 'boxgate-operator');
      const environment = environmentOf(operator, fromElsewhere);
      return readOperatorConfig({ ...environment, KUBERNETES_SERVICE_HOST: '10.96.0.1' });
    };
    expect(await configOf()).to.include({ publicTls: false, clusterDomain: 'cluster.local' });
    const changed = await configOf('tls.secretName=public-tls', 'clusterDomain=corp.example');
    expect(changed).to.include({ publicTls: true, clusterDomain: 'corp.example' });
  });

  it('gives both programs the same value of each setting that both read, in every variant', async () => {
    for (const [title, values] of Object.entries(variants)) {
      const all = await rendered([...values, 'crds.install=false']);
      const api = environmentOf(manifestOf(all, 'Deployment', 'boxgate-api'), fromElsewhere);
      const operator = environmentOf(manifestOf(all, 'Deployment', 'boxgate-operator'), fromElsewhere);
      const shared = Object.keys(api).filter((name) => name in operator);
      expect(shared, title).to.include.members(['BOXGATE_PUBLIC_URL', 'BOXGATE_CLUSTER_DOMAIN', 'BOXGATE_LOG_LEVEL']);
      for (const name of shared) expect(operator[name], `${title}: ${name}`).to.equal(api[name]);
    }
  });

  it('puts the labels and annotations of all objects on each one', async () => {
    const switches = ['monitoring', 'an Ingress', 'Secrets in two namespaces', 'autoscaling', 'what people add'];
    const values = switches.flatMap((title) => variants[title] ?? expect.fail(title));
    for (const also of [[], ['rbac.boxes.clusterWide=true'], variants['an HTTPRoute'] ?? []]) {
      for (const { kind, name, object } of await rendered([...values, ...also])) {
        expect(at(object, 'metadata', 'labels', 'team'), `${kind} ${name}`).to.equal('identity');
        expect(at(object, 'metadata', 'annotations', 'owner'), `${kind} ${name}`).to.equal('identity');
      }
    }
  });

  it('names a Job by its content: another release has another Job, the same values have the same', async () => {
    const jobs = async (...values: readonly string[]) =>
      (await rendered(values)).filter(({ kind }) => kind === 'Job').map(({ name }) => name);
    const [before, same, after] = [await jobs(), await jobs('api.replicas=5'), await jobs('image.tag=next')];
    expect(before).to.deep.equal(same);
    const content = (names: readonly string[]) => names.filter((name) => /-[0-9a-f]{8}$/.test(name));
    expect(content(before)).to.have.lengthOf(2);
    expect(content(before).filter((name) => after.includes(name))).to.deep.equal([]);
  });

  it('migrates again for another role of the API, which thereby gets its rights', async () => {
    const migration = async (secret: string) => {
      const given = [...(variants['a Postgres of the admin'] ?? []), `database.api.secretName=${secret}`];
      const names = (await rendered(given)).filter(({ kind }) => kind === 'Job').map(({ name }) => name);
      return names.filter((name) => name.startsWith('boxgate-migrate-'));
    };
    const [first, second] = [await migration('boxgate-api-role'), await migration('boxgate-api-role-2')];
    expect([...first, ...second]).to.have.lengthOf(2);
    expect(first).not.to.deep.equal(second);
  });

  it('has no hook before or after an installation or upgrade: nothing waits for what comes later', async () => {
    const hooks = (await rendered()).map(({ object }) => at(object, 'metadata', 'annotations', 'helm.sh/hook'));
    expect(new Set(hooks)).to.deep.equal(new Set([undefined, 'pre-delete', 'test']));
  });

  it('keeps the definitions when it is uninstalled', async () => {
    const definitions = (await rendered()).filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(definitions).to.have.lengthOf(4);
    for (const { object } of definitions) {
      expect(at(object, 'metadata', 'annotations', 'helm.sh/resource-policy')).to.equal('keep');
    }
  });

  it('gives no pod of the API a token of the cluster', async () => {
    const deployment = manifestOf(await rendered(), 'Deployment', 'boxgate-api');
    expect(at(deployment, 'spec', 'template', 'spec', 'automountServiceAccountToken')).to.equal(false);
    expect(JSON.stringify(deployment)).not.to.contain('serviceAccountToken');
  });

  it('limits every pod: resources, file system, and a policy that denies what it does not need', async () => {
    const all = await rendered();
    for (const { name, pod } of podsOf(all)) {
      const container = at(pod, 'spec', 'containers', 0);
      expect(at(container, 'securityContext', 'readOnlyRootFilesystem'), name).to.equal(true);
      expect(at(container, 'resources', 'requests', 'memory'), name).to.be.a('string');
      expect(at(container, 'resources', 'limits', 'memory'), name).to.be.a('string');
      expect(at(pod, 'metadata', 'labels', 'app.kubernetes.io/name'), name).to.equal('boxgate');
    }
    const deny = manifestOf(all, 'NetworkPolicy', 'boxgate-deny');
    expect(at(deny, 'spec')).to.deep.equal({
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'boxgate' } },
      policyTypes: ['Ingress', 'Egress'],
    });
    const api = at(manifestOf(all, 'Deployment', 'boxgate-api'), 'spec', 'template', 'spec', 'containers', 0);
    expect(at(api, 'livenessProbe', 'httpGet')).to.deep.equal({
      path: '/healthz',
      port: 'management',
      scheme: 'HTTPS',
    });
    expect(at(api, 'readinessProbe', 'httpGet')).to.deep.equal({
      path: '/readyz',
      port: 'management',
      scheme: 'HTTPS',
    });
  });

  it('runs a rotation only when asked, and never repeats it: a second pod would take the next step', async () => {
    const all = await rendered();
    const cronJobs = all.filter(({ kind }) => kind === 'CronJob').map(({ object }) => object);
    const jobs = cronJobs.map((cronJob) => {
      expect(at(cronJob, 'spec', 'suspend')).to.equal(true);
      expect(at(cronJob, 'metadata', 'annotations', 'argocd.argoproj.io/ignore-healthcheck')).to.equal('true');
      return at(cronJob, 'spec', 'jobTemplate', 'spec');
    });
    for (const job of jobs) {
      expect(at(job, 'backoffLimit')).to.equal(0);
      expect(at(job, 'template', 'spec', 'restartPolicy')).to.equal('Never');
    }
    const commands = jobs.map((job) => at(job, 'template', 'spec', 'containers', 0, 'args'));
    expect(commands).to.have.deep.members([
      ...rotations.map((rotation) => ['keys', 'rotate', rotation]),
      ['keys', 'forget', 'encryption'],
    ]);
  });

  it('leaves keys alone that somebody else provides: no rotation, and no right to read or change them', async () => {
    const all = await rendered(['keys.create=false', 'keys.secretName=ours']);
    expect(all.filter(({ kind }) => kind === 'CronJob').map(({ name }) => name)).to.deep.equal([]);
    const rules = at(manifestOf(all, 'Role', 'boxgate-keys'), 'rules');
    expect(rules).to.deep.equal([
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['boxgate-database', 'boxgate-database-api'],
        verbs: ['get'],
      },
    ]);
    const nothing = await rendered(variants['nothing created but by the admin']);
    const ofKeys = nothing.filter(({ name }) => name.startsWith('boxgate-keys'));
    expect(ofKeys.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal([]);
  });

  it('reaches DNS by the ports of the values, with UDP and TCP', async () => {
    const portsOf = async (...values: readonly string[]) =>
      at(manifestOf(await rendered(values), 'NetworkPolicy', 'boxgate-dns'), 'spec', 'egress', 0, 'ports');
    const both = (port: number) => [
      { port, protocol: 'UDP' },
      { port, protocol: 'TCP' },
    ];
    expect(await portsOf()).to.deep.equal([...both(53), ...both(5353)]);
    expect(await portsOf('networkPolicy.dnsPorts={9053}')).to.deep.equal(both(9053));
    const none = await renderChart([], ['--set-json', 'networkPolicy.dnsPorts=[]']).catch(String);
    expect(none).to.contain("at '/networkPolicy/dnsPorts': minItems");
  });

  it('gives argon2 the threads that it may use, and leaves four for everything else', async () => {
    const sizeOf = async (...values: readonly string[]) =>
      environmentOf(manifestOf(await rendered(values), 'Deployment', 'boxgate-api'), fromElsewhere)[
        'UV_THREADPOOL_SIZE'
      ];
    expect(await sizeOf('api.hashThreads=8')).to.equal('12');
    expect(await sizeOf()).to.equal(undefined);
    const own = ['api.extraEnv[0].name=UV_THREADPOOL_SIZE', 'api.extraEnv[0].value=their own'];
    expect(await sizeOf('api.hashThreads=8', ...own)).to.equal('their own');
  });

  it('takes a further variable in place of its own one of that name', async () => {
    // E-14: the name was in the list twice, and server-side apply refused the Deployment.
    const extra = (setting: string) => [
      `${setting}.extraEnv[0].name=BOXGATE_LOG_LEVEL`,
      `${setting}.extraEnv[0].value=warn`,
      `${setting}.extraEnv[1].name=A`,
      `${setting}.extraEnv[1].value=b`,
    ];
    const all = await rendered([...extra('api'), ...extra('operator')]);
    for (const name of ['boxgate-api', 'boxgate-operator']) {
      const env = at(manifestOf(all, 'Deployment', name), 'spec', 'template', 'spec', 'containers', 0, 'env');
      const names = (isList(env) ? env : []).map((variable) => at(variable, 'name'));
      expect(names.filter((one) => one === 'BOXGATE_LOG_LEVEL')).to.have.lengthOf(1);
      expect(env).to.deep.include({ name: 'BOXGATE_LOG_LEVEL', value: 'warn' });
      expect(names.at(-1)).to.equal('A');
    }
  });

  it('gives every container the requests and limits of the values, as a ResourceQuota may demand', async () => {
    // E-14: Jobs had fixed ones without limits.cpu, so that their pods were refused.
    const limits = '{"limits":{"cpu":"1","memory":"512Mi"}}';
    const settings = ['api', 'operator', 'migrate', 'jobs', 'postgres.bundled'];
    const given = settings.flatMap((setting) => ['--set-json', `${setting}.resources=${limits}`]);
    const pods = podsOf(manifestsIn(await renderChart([], given)));
    expect(pods.length).to.be.above(8);
    for (const { name, pod } of pods) {
      expect(at(pod, 'spec', 'containers', 0, 'resources', 'limits', 'cpu'), name).to.equal('1');
    }
  });

  it('ends the Job of helm uninstall within a minute, and helm test within three, also if a pod never starts', async () => {
    // E-28: helm uninstall blocked for five minutes where the image could not be pulled.
    const all = await rendered();
    const hooks = all.filter(({ object }) => at(object, 'metadata', 'annotations', 'helm.sh/hook') !== undefined);
    const deadlines = hooks
      .filter(({ kind }) => kind === 'Job' || kind === 'Pod')
      .map(({ name, object }) => [name, at(object, 'spec', 'activeDeadlineSeconds')]);
    expect(deadlines).to.have.deep.members([
      ['boxgate-uninstall', 60],
      ['boxgate-test', 180],
    ]);
  });

  it('carries what an admin adds: accounts, containers, volumes, Jobs, Services and whole objects', async () => {
    // E-31: as the charts of cert-manager and external-secrets do.
    const all = await rendered(variants['what admins of other charts set'] ?? expect.fail('no such variant'));
    for (const name of ['boxgate-api', 'boxgate-operator', 'boxgate-keys']) {
      const account = manifestOf(all, 'ServiceAccount', name);
      expect(at(account, 'metadata', 'annotations', 'cloud.example.com/role'), name).to.equal('identity');
    }
    for (const { name, pod } of podsOf(all)) {
      if (name.startsWith('StatefulSet ')) continue;
      const sidecars = at(pod, 'spec', name.startsWith('Deployment ') ? 'containers' : 'initContainers');
      expect(
        (isList(sidecars) ? sidecars : []).map((one) => at(one, 'name')),
        name,
      ).to.include('proxy');
      expect(at(pod, 'metadata', 'annotations', 'mesh.example.com/inject'), name).to.equal('disabled');
      expect(at(pod, 'metadata', 'labels', 'mesh'), name).to.equal('none');
      expect(at(pod, 'spec', 'volumes'), name).to.deep.include({ name: 'sockets', emptyDir: { medium: 'Memory' } });
      const mounts = at(pod, 'spec', 'containers', 0, 'volumeMounts');
      expect(mounts, name).to.deep.include({ name: 'sockets', mountPath: '/sockets' });
    }
    for (const { kind, name, object } of all.filter((one) => one.kind.endsWith('Job'))) {
      expect(at(object, 'metadata', 'annotations', 'jobs'), `${kind} ${name}`).to.equal('ours');
    }
    expect(at(manifestOf(all, 'Service', 'boxgate-api'), 'spec')).to.include({
      type: 'LoadBalancer',
      loadBalancerIP: '192.0.2.1',
      ipFamilyPolicy: 'PreferDualStack',
    });
    expect(at(manifestOf(all, 'Service', 'boxgate-api'), 'spec', 'ports', 0, 'nodePort')).to.equal(30443);
    expect(at(manifestOf(all, 'PodDisruptionBudget', 'boxgate-api'), 'spec', 'maxUnavailable')).to.equal('25%');
    expect(at(manifestOf(all, 'ConfigMap', 'ours'), 'data', 'place')).to.equal('boxgate-system');
  });

  it('has roles for tenants, which those of Kubernetes include only where the values say so', async () => {
    const roleOf = (all: Awaited<ReturnType<typeof rendered>>, name: string) => {
      const role = manifestOf(all, 'ClusterRole', name);
      const labels = at(role, 'metadata', 'labels');
      const into = Object.keys(isObject(labels) ? labels : {}).filter((label) => label.includes('/aggregate-to-'));
      return { rules: at(role, 'rules'), into: into.map((label) => label.split('-to-')[1]) };
    };
    const ruleOf = (...verbs: readonly string[]) => [
      { apiGroups: ['boxgate.dev'], resources: ['boxes', 'clients', 'accesspolicies', 'groups'], verbs },
    ];
    const read = ruleOf('get', 'list', 'watch');
    const write = ruleOf('get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection');
    const plain = await rendered();
    expect(roleOf(plain, 'boxgate-view')).to.deep.equal({ rules: read, into: [] });
    expect(roleOf(plain, 'boxgate-edit')).to.deep.equal({ rules: write, into: [] });
    const aggregated = await rendered(['tenantRoles.aggregate=true']);
    expect(roleOf(aggregated, 'boxgate-view').into).to.have.members(['view', 'edit', 'admin']);
    expect(roleOf(aggregated, 'boxgate-edit').into).to.have.members(['edit', 'admin']);
  });

  it('runs every Job, and the pod of helm test, on the nodes that the values name', async () => {
    const all = await rendered(['jobs.nodeSelector.disk=ssd', 'jobs.priorityClassName=system-cluster-critical']);
    const jobs = podsOf(all).filter(({ name }) => !/^(Deployment|StatefulSet) /.test(name));
    expect(jobs.map(({ name }) => name.split(' ')[0])).to.include.members(['Job', 'CronJob', 'Pod']);
    for (const { name, pod } of jobs) {
      expect(at(pod, 'spec', 'nodeSelector'), name).to.deep.equal({ disk: 'ssd' });
      expect(at(pod, 'spec', 'priorityClassName'), name).to.equal('system-cluster-critical');
    }
  });

  it('lets helm test reach the public port, whomever else the values admit', async () => {
    const from = async (...values: readonly string[]) => {
      const all = await rendered(['networkPolicy.publicFrom[0].ipBlock.cidr=10.0.0.0/8', ...values]);
      return at(manifestOf(all, 'NetworkPolicy', 'boxgate-api'), 'spec', 'ingress', 0, 'from');
    };
    const cidr = { ipBlock: { cidr: '10.0.0.0/8' } };
    expect(at(await from(), 0)).to.deep.equal(cidr);
    expect(at(await from(), 1, 'podSelector', 'matchLabels', 'app.kubernetes.io/component')).to.equal('test');
    expect(await from('test.enabled=false')).to.deep.equal([cidr]);
  });

  it('shows an Ingress and a route for the host of publicUrl', async () => {
    const values = ['publicUrl=https://auth.example.com', 'ingress.enabled=true', 'httpRoute.enabled=true'];
    const all = await rendered([...values, 'httpRoute.parentRefs[0].name=web']);
    expect(at(manifestOf(all, 'Ingress', 'boxgate-api'), 'spec', 'rules', 0, 'host')).to.equal('auth.example.com');
    expect(at(manifestOf(all, 'HTTPRoute', 'boxgate-api'), 'spec', 'hostnames')).to.deep.equal(['auth.example.com']);
  });
});

/** Values that Secrets and the downward API would have. */
const fromElsewhere: Readonly<Record<string, string>> = {
  BOXGATE_DATABASE_URL: 'postgres://boxgate_api:x@db/boxgate',
  DATABASE_URL: 'postgres://boxgate_api:x@db/boxgate',
  OWNER_URL: 'postgres://boxgate:x@db/boxgate',
  BOXGATE_OWNER_URL: 'postgres://boxgate:x@db/boxgate',
  BOXGATE_MANAGEMENT_KEYS: 'a-key-of-16-signs',
  BOXGATE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  BOXGATE_DIGEST_KEY: Buffer.alloc(32, 2).toString('base64'),
  BOXGATE_NAMESPACE: 'boxgate-system',
  BOXGATE_POD_UID: 'a-uid',
};
