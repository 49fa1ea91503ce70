import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readApiConfig, readMigrateConfig } from '../api/config.ts';
import { readOperatorConfig } from '../operator/config.ts';
import { readKeysConfig } from '../operator/keys/commands.ts';
import { ConfigError } from '../program/environment.ts';
import { SETTING_NAMES } from '../program/unknown-settings.ts';
import type { Environment } from '../program/environment.ts';

type Read = (environment: Environment) => unknown;

const readers: Readonly<Record<string, Read>> = {
  'boxgate api': readApiConfig,
  'boxgate operator': readOperatorConfig,
  'boxgate migrate': readMigrateConfig,
  'boxgate keys': readKeysConfig,
};

const least: Environment = {
  BOXGATE_DATABASE_URL: 'postgres://api:x@db/boxgate',
  BOXGATE_OWNER_URL: 'postgres://owner:x@db/boxgate',
  BOXGATE_MANAGEMENT_KEYS: 'a-key-of-16-signs',
  BOXGATE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  BOXGATE_PUBLIC_URL: 'https://auth.example.com',
  BOXGATE_MANAGEMENT_URL: 'https://boxgate-management:8081',
  BOXGATE_DIGEST_KEY: Buffer.alloc(32, 2).toString('base64'),
  BOXGATE_NAMESPACE: 'boxgate-system',
  KUBERNETES_SERVICE_HOST: '10.96.0.1',
};

/** The rows under a heading of the page: variable and default. */
function rowsUnder(heading: string): readonly (readonly [name: string, otherwise: string])[] {
  const page = readFileSync('docs/reference/configuration.md', 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name = '', otherwise = '']) => [name, otherwise]);
}

/** The variables that a reader asks for. */
function variablesOf(read: Read): readonly string[] {
  const asked = new Set<string>();
  const environment = new Proxy(least, {
    get(target, name) {
      if (typeof name !== 'string') return undefined;
      asked.add(name);
      return target[name];
    },
  });
  read(environment);
  return [...asked];
}

function mistakes(read: Read, environment: Environment): readonly string[] {
  try {
    read(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}

describe('docs/reference/configuration.md', () => {
  it('has, like the list of known settings, every variable that a program reads', () => {
    const read = Object.values(readers).flatMap(variablesOf);
    const ours = read.filter((name) => name.startsWith('BOXGATE_'));
    expect([...SETTING_NAMES]).to.deep.equal([...new Set(ours)].sort());
  });

  for (const [command, read] of Object.entries(readers)) {
    describe(command, () => {
      it('has a row for each variable, and no other', () => {
        expect(rowsUnder(command).map(([name]) => name)).to.have.members([...variablesOf(read)]);
      });

      for (const [name, otherwise] of rowsUnder(command)) {
        it(`${name}: ${otherwise}`, () => {
          if (otherwise === 'required') {
            const said = mistakes(read, { ...least, [name]: undefined });
            expect(said.map((sentence) => sentence.split(':')[0])).to.deep.equal([`${name} is missing`]);
            return;
          }
          const given = otherwise.startsWith('`') ? otherwise.slice(1, -1) : inWords[otherwise];
          expect(given, 'a default in words is explained in this test').to.be.a('string');
          expect(read({ ...least, [name]: given })).to.deep.equal(read(least));
        });
      }
    });
  }
});

const inWords: Readonly<Record<string, string>> = {
  none: '',
  'the uid of the namespace `kube-system`': '',
  'one less than there are cores': String(Math.max(1, availableParallelism() - 1)),
};
