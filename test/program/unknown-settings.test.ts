import { expect } from 'chai';
import { ConfigError } from '../../program/environment.ts';
import type { Environment } from '../../program/environment.ts';
import { readWithUnknown, unknownSettings } from '../../program/unknown-settings.ts';

describe('settings that no program reads', () => {
  const secret = 'postgres://api:sesame@db/boxgate';
  const ignored = 'is ignored, because no setting has this name';
  const cases: Readonly<Record<string, readonly [environment: Environment, sentences: readonly string[]]>> = {
    'a misspelled one is named with the closest known name, and without its value': [
      { BOXGATE_DATABASE_UR: secret, BOXGATE_DATABASE_URL: secret },
      [`BOXGATE_DATABASE_UR ${ignored}. Did you mean \`BOXGATE_DATABASE_URL\`?`],
    ],
    'one that is like no other is named alone': [
      { BOXGATE_COLOUR_OF_PAGES: secret },
      [`BOXGATE_COLOUR_OF_PAGES ${ignored}`],
    ],
    'several are in the order of their names': [
      { BOXGATE_POOL_SIZ: '4', BOXGATE_LOGLEVL: 'info' },
      [
        `BOXGATE_LOGLEVL ${ignored}. Did you mean \`BOXGATE_LOG_LEVEL\`?`,
        `BOXGATE_POOL_SIZ ${ignored}. Did you mean \`BOXGATE_POOL_SIZE\`?`,
      ],
    ],
    'those of other programs and other products are none': [
      { BOXGATE_LEASE_NAME: 'x', BOXGATE_OWNER_URL: secret, BOXCTL_BOX: 'shop', PATH: '/bin' },
      [],
    ],
    'variables that Kubernetes sets for Services are none': [
      {
        BOXGATE_API_SERVICE_HOST: '10.0.0.7',
        BOXGATE_API_SERVICE_PORT: '80',
        BOXGATE_API_SERVICE_PORT_HTTP: '80',
        BOXGATE_API_PORT: 'tcp://10.0.0.7:80',
        BOXGATE_API_PORT_80_TCP: 'tcp://10.0.0.7:80',
        BOXGATE_API_PORT_80_TCP_PROTO: 'tcp',
        BOXGATE_API_PORT_80_TCP_PORT: '80',
        BOXGATE_API_PORT_80_TCP_ADDR: '10.0.0.7',
      },
      [],
    ],
    'a misspelled port is not taken for a variable of Kubernetes': [
      { BOXGATE_HEALT_PORT: '8082' },
      [`BOXGATE_HEALT_PORT ${ignored}. Did you mean \`BOXGATE_HEALTH_PORT\`?`],
    ],
  };
  for (const [title, [environment, sentences]] of Object.entries(cases)) {
    it(title, () => {
      expect(unknownSettings(environment)).to.deep.equal(sentences);
    });
  }

  it('are named together with what is missing', () => {
    const read = (): never => {
      throw new ConfigError(['A is missing']);
    };
    expect(() => readWithUnknown(['B is ignored'], read)).to.throw(ConfigError, 'A is missing\nB is ignored');
    expect(() =>
      readWithUnknown([], () => {
        throw new TypeError('a bug');
      }),
    ).to.throw(TypeError);
    expect(readWithUnknown(['B is ignored'], () => 7)).to.equal(7);
  });
});
