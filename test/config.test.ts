import { expect } from 'chai';
import { availableParallelism } from 'node:os';
import { readApiConfig, readMigrateConfig } from '../api/config.ts';
import { ConfigError } from '../program/environment.ts';
import type { Environment } from '../program/environment.ts';

const key = Buffer.alloc(32, 1).toString('base64');
const otherKey = Buffer.alloc(32, 2).toString('base64');

/** The least that the API needs. */
const least: Environment = {
  BOXGATE_DATABASE_URL: 'postgres://api:canary-password@db:5432/boxgate',
  BOXGATE_MANAGEMENT_KEYS: 'canary-key-of-16',
  BOXGATE_ENCRYPTION_KEY: key,
  BOXGATE_PUBLIC_URL: 'https://id.example.com/',
};

function mistakes(
  environment: Environment,
  read: (environment: Environment) => unknown = readApiConfig,
): readonly string[] {
  try {
    read(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}

describe('the settings of the API', () => {
  it('have a default, but for the least', () => {
    expect(readApiConfig(least)).to.deep.equal({
      databases: [{ name: 'home', url: least['BOXGATE_DATABASE_URL'] }],
      defaultDatabase: 'home',
      host: '0.0.0.0',
      managementHost: '127.0.0.1',
      managementTlsFolder: undefined,
      tlsFolder: undefined,
      port: 8080,
      managementPort: 8081,
      managementKeys: ['canary-key-of-16'],
      encryptionKeys: [Buffer.alloc(32, 1)],
      publicUrl: 'https://id.example.com',
      standalone: false,
      folder: undefined,
      clusterDomain: 'cluster.local',
      trustedProxies: [],
      waitForDatabase: true,
      poolSize: 4,
      hashThreads: Math.max(1, availableParallelism() - 1),
      revocationsNeedStandby: false,
      failuresPerClient: 20,
      failuresPerBox: 100,
      failuresPerSecret: 1_000,
      failuresPerAccount: 100,
      jwksHosts: [],
      resourcesInMemory: 100_000,
      keepAliveSeconds: 75,
      lingerSeconds: 10,
      logLevel: 'info',
      parentPipe: undefined,
    });
  });

  it('count as not given when they are empty', () => {
    expect(readApiConfig({ ...least, BOXGATE_PORT: '', BOXGATE_HOST: '', BOXGATE_LOG_LEVEL: '' })).to.deep.equal(
      readApiConfig(least),
    );
  });

  const accepted: readonly (readonly [name: string, value: string, field: string, read: unknown])[] = [
    ['BOXGATE_DATABASE_URL', 'postgresql://u@h/d', 'databases', [{ name: 'home', url: 'postgresql://u@h/d' }]],
    ['BOXGATE_HOST', '127.0.0.1', 'host', '127.0.0.1'],
    ['BOXGATE_HOST', '::', 'host', '::'],
    ['BOXGATE_MANAGEMENT_HOST', '127.9.9.9', 'managementHost', '127.9.9.9'],
    ['BOXGATE_MANAGEMENT_HOST', '::1', 'managementHost', '::1'],
    ['BOXGATE_MANAGEMENT_TLS_FOLDER', '/etc/tls', 'managementTlsFolder', '/etc/tls'],
    ['BOXGATE_TLS_FOLDER', '/etc/tls', 'tlsFolder', '/etc/tls'],
    ['BOXGATE_WAIT_FOR_DATABASE', 'false', 'waitForDatabase', false],
    ['BOXGATE_PORT', '0', 'port', 0],
    ['BOXGATE_PORT', '65535', 'port', 65_535],
    ['BOXGATE_MANAGEMENT_PORT', '443', 'managementPort', 443],
    ['BOXGATE_MANAGEMENT_KEYS', 'a'.repeat(16), 'managementKeys', ['a'.repeat(16)]],
    [
      'BOXGATE_MANAGEMENT_KEYS',
      `${'a'.repeat(16)}, ${'b'.repeat(20)}`,
      'managementKeys',
      ['a'.repeat(16), 'b'.repeat(20)],
    ],
    ['BOXGATE_ENCRYPTION_KEY', `${key},${otherKey}`, 'encryptionKeys', [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]],
    ['BOXGATE_PUBLIC_URL', 'http://localhost:8080/base//', 'publicUrl', 'http://localhost:8080/base'],
    ['BOXGATE_STANDALONE', 'true', 'standalone', true],
    ['BOXGATE_STANDALONE', 'false', 'standalone', false],
    ['BOXGATE_FOLDER', 'examples/standalone', 'folder', 'examples/standalone'],
    ['BOXGATE_CLUSTER_DOMAIN', 'corp.example', 'clusterDomain', 'corp.example'],
    ['BOXGATE_TRUSTED_PROXIES', '10.0.0.0/8, ::1,192.168.1.1', 'trustedProxies', ['10.0.0.0/8', '::1', '192.168.1.1']],
    ['BOXGATE_TRUSTED_PROXIES', '2001:db8::/32', 'trustedProxies', ['2001:db8::/32']],
    ['BOXGATE_POOL_SIZE', '1', 'poolSize', 1],
    ['BOXGATE_POOL_SIZE', '100', 'poolSize', 100],
    ['BOXGATE_HASH_THREADS', '64', 'hashThreads', 64],
    ['BOXGATE_REVOCATIONS_NEED_STANDBY', 'true', 'revocationsNeedStandby', true],
    ['BOXGATE_FAILURES_PER_CLIENT', '1', 'failuresPerClient', 1],
    ['BOXGATE_FAILURES_PER_BOX', '1000000', 'failuresPerBox', 1_000_000],
    ['BOXGATE_FAILURES_PER_SECRET', '9', 'failuresPerSecret', 9],
    ['BOXGATE_FAILURES_PER_ACCOUNT', '7', 'failuresPerAccount', 7],
    ['BOXGATE_RESOURCES_IN_MEMORY', '1000', 'resourcesInMemory', 1_000],
    ['BOXGATE_KEEP_ALIVE_SECONDS', '1', 'keepAliveSeconds', 1],
    ['BOXGATE_KEEP_ALIVE_SECONDS', '3600', 'keepAliveSeconds', 3600],
    ['BOXGATE_LINGER_SECONDS', '0', 'lingerSeconds', 0],
    ['BOXGATE_LOG_LEVEL', 'debug', 'logLevel', 'debug'],
    ['BOXGATE_PARENT_PIPE', '3', 'parentPipe', 3],
  ];
  for (const [name, value, field, read] of accepted) {
    it(`read ${name}=${value}`, () => {
      expect(readApiConfig({ ...least, [name]: value })).to.deep.include({ [field]: read });
    });
  }

  for (const host of ['0.0.0.0', '::', '10.0.0.1', '2001:db8::1', '::ffff:10.0.0.1']) {
    it(`R-17 demand a certificate for the management port on ${host}`, () => {
      const settings = { ...least, BOXGATE_MANAGEMENT_HOST: host };
      expect(mistakes(settings)).to.deep.equal([
        'BOXGATE_MANAGEMENT_TLS_FOLDER must name a folder with tls.crt and tls.key, unless BOXGATE_MANAGEMENT_HOST is ' +
          'a loopback address, because declared secrets pass that port',
      ]);
      expect(mistakes({ ...settings, BOXGATE_MANAGEMENT_TLS_FOLDER: '/etc/tls' })).to.deep.equal([]);
    });
  }

  const refused: Readonly<Record<string, readonly string[]>> = {
    BOXGATE_DATABASE_URL: ['db', 'mysql://u@h/d', 'postgres://h/d', 'http://u@h', '/var/run/postgres', ' '],
    BOXGATE_HOST: ['localhost', '0.0.0.0:8080', '256.1.1.1', '*'],
    BOXGATE_MANAGEMENT_HOST: ['localhost', '0.0.0.0:8081'],
    BOXGATE_MANAGEMENT_TLS_FOLDER: ['tls', './tls', '/a\nb'],
    BOXGATE_TLS_FOLDER: ['tls', '/a\0b'],
    BOXGATE_WAIT_FOR_DATABASE: ['yes', '0'],
    BOXGATE_PORT: ['-1', '65536', '80.5', '0x50', 'http', '1e3', ' 80', '99999999999999999999'],
    BOXGATE_MANAGEMENT_PORT: ['65536', 'none'],
    BOXGATE_MANAGEMENT_KEYS: [
      'short',
      `${'a'.repeat(16)},short`,
      `${'a'.repeat(16)},${'b'.repeat(16)},${'c'.repeat(16)}`,
      ',',
    ],
    BOXGATE_ENCRYPTION_KEY: [
      'short',
      key.slice(1),
      Buffer.alloc(31).toString('base64'),
      `${key};${otherKey}`,
      `${key},x`,
    ],
    BOXGATE_PUBLIC_URL: [
      'id.example.com',
      'ftp://id.example.com',
      'https://u:p@x',
      'https://:secret@x',
      'https://x?a=b',
      'https://x#y',
      '/',
    ],
    BOXGATE_STANDALONE: ['yes', '1', 'TRUE', 'on'],
    BOXGATE_CLUSTER_DOMAIN: ['.local', 'a b', 'UPPER', 'x.', 'a/b'],
    BOXGATE_TRUSTED_PROXIES: [
      'proxy',
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/8/8',
      '10.0.0.1-10.0.0.9',
      '10.0.0.0/',
      '10/8',
    ],
    BOXGATE_POOL_SIZE: ['0', '101', 'many', '-4'],
    BOXGATE_KEEP_ALIVE_SECONDS: ['0', '3601', '60s'],
    BOXGATE_LINGER_SECONDS: ['-1', '301', '1.5', 'long'],
    BOXGATE_HASH_THREADS: ['0', '65'],
    BOXGATE_REVOCATIONS_NEED_STANDBY: ['maybe'],
    BOXGATE_FAILURES_PER_CLIENT: ['0', '1000001'],
    BOXGATE_FAILURES_PER_BOX: ['0', 'unlimited'],
    BOXGATE_FAILURES_PER_SECRET: ['0', '1e3'],
    BOXGATE_FAILURES_PER_ACCOUNT: ['0', '-1'],
    BOXGATE_RESOURCES_IN_MEMORY: ['0', '999', '10000001', 'all'],
    BOXGATE_LOG_LEVEL: ['trace', 'INFO', 'verbose'],
    BOXGATE_PARENT_PIPE: ['0', '2', 'stdin', '1025'],
  };
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values) {
      it(`refuse ${name}=${value} in one sentence that names it and does not show it`, () => {
        const said = mistakes({ ...least, [name]: value });
        expect(said).to.have.length(1);
        expect(said[0]).to.match(new RegExp(`^${name} (is missing: it )?must `));
        // A short one may well stand in the sentence as an example or a limit.
        if (value.length > 10) expect(said[0]).to.not.include(value);
      });
    }
  }

  it('tell every mistake at once', () => {
    const everyWrong = Object.fromEntries(Object.entries(refused).map(([name, [value]]) => [name, value]));
    const named = mistakes(everyWrong).map((sentence) => sentence.split(' ')[0]);
    expect(named).to.have.members(Object.keys(refused));
  });

  it('tell what is missing, and how it has to be', () => {
    const said = mistakes({});
    expect(said.map((sentence) => sentence.split(':')[0])).to.deep.equal(
      Object.keys(least).map((name) => `${name} is missing`),
    );
    expect(said[0]).to.include('it must be a URL such as postgres://user:password@host:5432/database');
    expect(said[2]).to.include('openssl rand -base64 32');
  });

  it('tell that both ports are one', () => {
    const ports = { BOXGATE_PORT: '8081', BOXGATE_MANAGEMENT_PORT: '8081' };
    expect(mistakes({ ...least, ...ports })).to.deep.equal(['BOXGATE_MANAGEMENT_PORT must differ from BOXGATE_PORT']);
    expect(mistakes({ ...least, BOXGATE_PORT: '0', BOXGATE_MANAGEMENT_PORT: '0' })).to.deep.equal([]);
  });

  it('tell of a URL whose password cannot be decoded', () => {
    const said = mistakes({ ...least, BOXGATE_DATABASE_URL: 'postgres://api:canary%zz@db/boxgate' });
    expect(said).to.have.length(1);
    expect(said[0])
      .to.match(/^BOXGATE_DATABASE_URL must be a URL/)
      .and.not.include('canary');
  });

  it('read a public URL in its one normal form, for issuers are compared sign by sign', () => {
    const { publicUrl } = readApiConfig({ ...least, BOXGATE_PUBLIC_URL: 'HTTPS://Auth.Example.COM:443/' });
    expect(publicUrl).to.equal('https://auth.example.com');
  });

  it('show no secret in what they complain of', () => {
    const said = mistakes({ ...least, BOXGATE_DATABASE_URL: 'mysql://api:canary-password@db', BOXGATE_PORT: 'x' });
    expect(said.join('\n')).to.not.include('canary');
  });
});

describe('the settings of a migration', () => {
  const both = { BOXGATE_OWNER_URL: 'postgres://owner@h/d', BOXGATE_DATABASE_URL: 'postgres://the%20api@h/d' };

  it('are the owner’s URL and the role of the API’s', () => {
    const home = { name: 'home', ownerUrl: 'postgres://owner@h/d', apiRole: 'the api', apiPassword: undefined };
    expect(readMigrateConfig(both)).to.deep.equal({
      databases: [home],
      databaseWaitSeconds: 0,
      leaveNewer: false,
    });
  });

  it('have the password for the role of the API where it is to be created', () => {
    const creates = { ...both, BOXGATE_CREATE_API_ROLE: 'true' };
    const config = readMigrateConfig({ ...creates, BOXGATE_DATABASE_URL: 'postgres://the%20api:p%40ss@h/d' });
    expect(config.databases[0].apiPassword?.reveal()).to.equal('p@ss');
    const said = mistakes({ ...creates, BOXGATE_DATABASE_URL: 'postgres://api@h/d' }, readMigrateConfig);
    expect(said[0]).to.match(/^BOXGATE_DATABASE_URL must have a password/);
  });

  it('are refused when the API would serve as the owner, whom row-level security does not bind', () => {
    const said = mistakes({ ...both, BOXGATE_OWNER_URL: 'postgres://the%20api:other@h/d' }, readMigrateConfig);
    expect(said).to.have.length(1);
    expect(said[0]).to.match(/^BOXGATE_DATABASE_URL must name a role of the API's own/);
  });

  it('tell every mistake at once', () => {
    const said = mistakes({ BOXGATE_OWNER_URL: 'x' }, readMigrateConfig);
    expect(said.map((sentence) => sentence.split(' ')[0])).to.deep.equal(['BOXGATE_OWNER_URL', 'BOXGATE_DATABASE_URL']);
  });
});
