import { expect } from 'chai';
import { readDevOptions, UsageError, type DevOptions } from '../../dev/options.ts';

const read = (...args: string[]) => readDevOptions(args, '/srv', {});
const standard = {
  folder: '/srv/examples',
  host: '127.0.0.1',
  port: undefined,
  managementPort: undefined,
  publicUrl: undefined,
  state: '/srv/examples/.boxgate',
  databaseUrl: undefined,
  apiDatabaseUrl: undefined,
  databases: undefined,
  once: false,
};
const url = 'postgres://owner:canary@127.0.0.1:5433/boxgate';
const a = { folder: '/srv/a', state: '/srv/a/.boxgate' };
const api = 'postgres://boxgate_api:canary@127.0.0.1:5433/boxgate';

describe('readDevOptions', () => {
  const good: [args: string[], options: Partial<DevOptions>][] = [
    [['examples'], {}],
    [['/other'], { folder: '/other', state: '/other/.boxgate' }],
    [['--port', '0', 'examples', '--management-port=0'], { port: 0, managementPort: 0 }],
    [['examples', '--port=65535'], { port: 65_535 }],
    [['examples', '--state', 'kept'], { state: '/srv/kept' }],
    [['examples', '--once'], { once: true }],
    [['examples', '--host', '::'], { host: '::' }],
    [['examples', '--port', '9000', '--management-port', '9001'], { port: 9000, managementPort: 9001 }],
    [['examples', '--public-url', 'https://box.example/auth/'], { publicUrl: 'https://box.example/auth' }],
    [['examples', '--database-url', url], { databaseUrl: url }],
    [['examples', '--databases', 'several.yaml'], { databases: '/srv/several.yaml' }],
    [['a', '--database-url', url, '--api-database-url', api], { ...a, databaseUrl: url, apiDatabaseUrl: api }],
  ];
  for (const [args, options] of good) {
    it(`reads ${args.join(' ').replaceAll(':canary', '')}`, () => {
      expect(read(...args)).to.deep.equal({ ...standard, ...options });
    });
  }

  const bad: [args: string[], sentence: RegExp][] = [
    [[], /^Which folder\?/],
    [[''], /^Which folder\?/],
    [['a', '--state', ''], /^--state must be the path of a folder$/],
    [['a', 'b'], /^One folder at a time: b is too much$/],
    [['a', '--port', 'x'], /^--port must be a number from 0 to 65535/],
    [['a', '--port', '65536'], /^--port must be/],
    [['a', '--port', '-1'], /--port/],
    [['a', '--management-port', '1e3'], /^--management-port must be/],
    [['a', '--databse-url', 'x'], /^Unknown option '--databse-url'\. Did you mean `--database-url`\?$/],
    [['a', '--databaseUrl', 'x'], /^Unknown option '--databaseUrl'\. Did you mean `--database-url`\?$/],
    [['a', '--verbose'], /^Unknown option '--verbose'$/],
    [['a', '--once=yes'], /--once/],
    [['a', '--host', 'localhost'], /^--host must be an IP address, such as 0\.0\.0\.0 for every interface$/],
    [['a', '--public-url', 'box.example'], /^--public-url must be an http or https URL without query, such as https:/],
    [['a', '--public-url', 'https://box.example/?canary'], /^--public-url must be an http or https URL without query/],
    [['a', '--port', '9000', '--management-port', '9000'], /^--port and --management-port are both 9000: choose two/],
    [['a', '--port'], /--port/],
    [['a', '--api-database-url', api], /^--api-database-url needs --database-url/],
    [['a', '--database-url', url, '--api-database-url', 'canary'], /^--api-database-url must be a URL such as/],
    [['a', '--databases', 'x.yaml', '--database-url', url], /^--databases names every database: leave --database-url/],
    [['a', '--database-url', 'canary'], /^--database-url must be a URL such as/],
    [['a', '--database-url', 'postgres://127.0.0.1/canary'], /^--database-url must be a URL such as/],
  ];
  for (const [args, sentence] of bad) {
    it(`refuses ${args.length === 0 ? 'nothing at all' : JSON.stringify(args)} in one sentence`, () => {
      expect(() => read(...args)).to.throw(UsageError, sentence);
      expect(() => read(...args)).to.not.throw(UsageError, /canary|\n/);
    });
  }

  it('reads from the environment what no option says, as the API has it', () => {
    const environment = {
      PORT: '9000',
      BOXGATE_HOST: '0.0.0.0',
      BOXGATE_PUBLIC_URL: 'https://box.example',
      BOXGATE_OWNER_URL: url,
      BOXGATE_DATABASE_URL: api,
    };
    const { host, port, publicUrl, databaseUrl, apiDatabaseUrl } = readDevOptions(['a'], '/srv', environment);
    expect({ host, port, publicUrl, databaseUrl, apiDatabaseUrl }).to.deep.equal({
      host: '0.0.0.0',
      port: 9000,
      publicUrl: 'https://box.example',
      databaseUrl: url,
      apiDatabaseUrl: api,
    });
    const options = ['--port', '0', '--host', '::1', '--public-url', 'http://box.test', '--database-url', `${url}2`];
    expect(readDevOptions(['a', ...options], '/srv', environment)).to.include({
      host: '::1',
      port: 0,
      publicUrl: 'http://box.test',
      databaseUrl: `${url}2`,
      apiDatabaseUrl: undefined,
    });
    expect(() => readDevOptions(['a'], '/srv', { PORT: 'http' })).to.throw(/^PORT must be a number from 0 to 65535/);
  });
});
