import { expect } from 'chai';
import { readClusterAccess, readOperatorConfig } from '../../operator/config.ts';
import { ConfigError, type Environment } from '../../program/environment.ts';

/** The least that the operator needs. */
const least: Environment = {
  BOXGATE_MANAGEMENT_URL: 'https://boxgate-management:8081/',
  BOXGATE_MANAGEMENT_KEYS: 'canary-key-of-16, canary-older-key-of-16',
  BOXGATE_DIGEST_KEY: Buffer.alloc(32, 1).toString('base64'),
  BOXGATE_PUBLIC_URL: 'https://id.example.com/',
  BOXGATE_NAMESPACE: 'boxgate-system',
  KUBERNETES_SERVICE_HOST: '10.96.0.1',
};

function mistakes(environment: Environment): readonly string[] {
  try {
    readOperatorConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}

describe('the settings of the operator', () => {
  it('have a default, but for the least', () => {
    const { managementKey, digestKey, ...rest } = readOperatorConfig(least);
    expect(managementKey.reveal()).to.equal('canary-key-of-16');
    expect(digestKey.reveal()).to.equal(least['BOXGATE_DIGEST_KEY']);
    // E-15: a key of `openssl rand -base64 32 > digest-key` ended the operator.
    const fromFile = { ...least, BOXGATE_DIGEST_KEY: `${least['BOXGATE_DIGEST_KEY'] ?? ''}\r\n` };
    expect(readOperatorConfig(fromFile).digestKey.reveal()).to.equal(digestKey.reveal());
    expect(rest).to.deep.equal({
      managementUrl: 'https://boxgate-management:8081',
      managementCaFile: undefined,
      publicUrl: 'https://id.example.com',
      publicTls: false,
      clusterDomain: 'cluster.local',
      clusterId: undefined,
      adoptCluster: undefined,
      namespace: 'boxgate-system',
      podUid: undefined,
      serviceAccount: 'boxgate-operator',
      access: {
        host: '10.96.0.1',
        port: 443,
        accountFolder: '/var/run/secrets/kubernetes.io/serviceaccount',
      },
      host: '0.0.0.0',
      holdSeconds: 60,
      healthPort: 8082,
      leaseName: 'boxgate-operator',
      leaseSeconds: 15,
      sweepSeconds: 45,
      usageSeconds: 3600,
      relistSeconds: 300,
      logLevel: 'info',
      parentPipe: undefined,
    });
  });

  const refused: Readonly<Record<string, readonly string[]>> = {
    BOXGATE_MANAGEMENT_CA_FILE: ['ca.crt', '/a\nb'],
    BOXGATE_MANAGEMENT_URL: [
      'http://boxgate:8081',
      'http://10.0.0.1',
      'http://[2001:db8::1]',
      'boxgate:8081',
      'http://key@boxgate:8081',
      'ftp://boxgate',
      'http://boxgate?x=1',
    ],
    BOXGATE_MANAGEMENT_KEYS: ['short', 'canary key of sixteen'],
    BOXGATE_DIGEST_KEY: ['canary', Buffer.alloc(31).toString('base64'), Buffer.alloc(32).toString('hex')],
    BOXGATE_PUBLIC_URL: ['id.example.com'],
    BOXGATE_NAMESPACE: ['Boxgate', '-boxgate', 'boxgate.system', 'b'.repeat(64)],
    BOXGATE_PUBLIC_TLS: ['yes'],
    BOXGATE_CLUSTER_DOMAIN: ['.local', 'UPPER'],
    BOXGATE_ADOPT_CLUSTER: ['my cluster'],
    BOXGATE_CLUSTER_ID: ['my cluster', 'a/b', 'c'.repeat(129)],
    BOXGATE_POD_UID: ['a pod'],
    BOXGATE_HOST: ['localhost'],
    BOXGATE_HEALTH_PORT: ['65536'],
    BOXGATE_LEASE_NAME: ['Lease'],
    BOXGATE_LEASE_SECONDS: ['1', '301', '2.5'],
    BOXGATE_SWEEP_SECONDS: ['0'],
    BOXGATE_USAGE_SECONDS: ['0'],
    BOXGATE_HOLD_SECONDS: ['0'],
    BOXGATE_RELIST_SECONDS: ['0'],
    BOXGATE_LOG_LEVEL: ['trace'],
    KUBECONFIG: ['a\nb'],
    KUBERNETES_SERVICE_HOST: ['[fd00::1]', 'https://10.96.0.1', '10.96.0.1:443', 'a b', '-a'],
    KUBERNETES_SERVICE_PORT: ['0', '65536', 'tcp://10.96.0.1:443'],
    BOXGATE_SERVICE_ACCOUNT_FOLDER: ['a\nb'],
  };
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values) {
      it(`refuse ${name}=${JSON.stringify(value.slice(0, 40))}, without showing it`, () => {
        const said = mistakes({ ...least, [name]: value });
        expect(said).to.have.length(1);
        expect(said[0]).to.match(new RegExp(`^${name} must `));
        expect(said[0]).not.to.contain('canary');
      });
    }
  }

  it('are all wrong at once where all are', () => {
    const everything = Object.fromEntries(Object.entries(refused).map(([name, [value]]) => [name, value]));
    expect(mistakes(everything)).to.have.length(Object.keys(refused).length);
  });

  const accesses: Readonly<Record<string, readonly [Environment, ReturnType<typeof readClusterAccess>]>> = {
    'a kubeconfig, also in a pod': [{ ...least, KUBECONFIG: '/etc/kubeconfig' }, { kubeconfig: '/etc/kubeconfig' }],
    'a kubeconfig outside of a pod': [{ KUBECONFIG: 'kubeconfig' }, { kubeconfig: 'kubeconfig' }],
    'what a pod has, of IPv6': [
      {
        KUBERNETES_SERVICE_HOST: 'fd00:10:96::1',
        KUBERNETES_SERVICE_PORT: '6443',
        BOXGATE_SERVICE_ACCOUNT_FOLDER: '/own',
      },
      { host: 'fd00:10:96::1', port: 6443, accountFolder: '/own' },
    ],
    'the name of a host': [
      { KUBERNETES_SERVICE_HOST: 'api.cluster-1.example.com', BOXGATE_SERVICE_ACCOUNT_FOLDER: '/own' },
      { host: 'api.cluster-1.example.com', port: 443, accountFolder: '/own' },
    ],
  };
  for (const [what, [environment, access]] of Object.entries(accesses)) {
    it(`find the cluster by ${what}`, () => {
      expect(readClusterAccess(environment)).to.deep.equal(access);
    });
  }

  it('say what is missing outside of a pod', () => {
    expect(mistakes({ ...least, KUBERNETES_SERVICE_HOST: undefined })).to.deep.equal([
      'KUBERNETES_SERVICE_HOST is missing: every pod has it; elsewhere set KUBECONFIG',
    ]);
  });
});
