import { Ajv } from 'ajv';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { isObject, parseJson } from '../../crds/path.ts';
import { neededHelm } from '../../tools/needs/helm.ts';
import { chartValues, isSection, type Members } from '../../tools/chart/values.ts';

const run = promisify(execFile);

/** A name of a release and of a namespace that YAML reads as a number. */
export const numberLike = '8652';

/** One value of the chart, set to one variant. */
export interface ValueCase {
  /** Path in values.yaml, with dots between. */
  readonly setting: string;
  /** Name under which a parent chart includes it. */
  readonly alias: string;
  /** Values that a person would write; null takes a default away. */
  readonly values: object;
  /** True if values.schema.json accepts them. */
  readonly isValid: boolean;
}

type Variant = (setting: string, initial: unknown, schema: unknown) => unknown;

/** Texts that look like numbers go where a setting takes texts. */
const numberLikeText: Variant = (_setting, initial, schema) => {
  if (Array.isArray(initial)) return typeOfItems(schema) === 'string' ? [numberLike] : [{ name: numberLike }];
  return isObject(initial) ? { team: numberLike } : numberLike;
};

/** Variants that every value is set to, by their titles. */
export const variantsOfValues: Readonly<Record<string, Variant>> = {
  null: () => null,
  'an empty list': () => [],
  'an empty map': () => ({}),
  'a number-like text': numberLikeText,
  'a recommended label': () => ({ 'app.kubernetes.io/part-of': 'platform' }),
};

/** Returns a case for each value and each section of the chart. */
export async function valueCases(variant: Variant): Promise<readonly ValueCase[]> {
  const schema = parseJson(await readFile('charts/boxgate/values.schema.json', 'utf8'));
  if (!isObject(schema)) throw new Error('values.schema.json holds no schema');
  const isValid = new Ajv({ strict: false, allowUnionTypes: true }).compile(schema);
  return settingsOf(chartValues, '').map(({ setting, initial, schema: own }, index) => {
    const values = withValue(everythingFor(setting), setting.split('.'), variant(setting, initial, own));
    return {
      setting,
      alias: `v${String(index).padStart(3, '0')}`,
      values,
      isValid: isValid(coalesced(defaultsOf(chartValues), values)),
    };
  });
}

/** Renders the chart once for each case in one process of helm, as the dependencies of a parent chart. */
export async function renderTogether(cases: readonly ValueCase[]): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-value-variants-'));
  try {
    await mkdir(path.join(folder, 'charts'));
    await cp('charts/boxgate', path.join(folder, 'charts/boxgate'), { recursive: true });
    const version = /^version: (.*)$/m.exec(await readFile('charts/boxgate/Chart.yaml', 'utf8'))?.[1] ?? '';
    const dependencies = cases.map(({ alias }) => ({ name: 'boxgate', version, alias, condition: `${alias}.enabled` }));
    await writeFile(
      path.join(folder, 'Chart.yaml'),
      stringify({ apiVersion: 'v2', name: 'parent', version: '1.0.0', dependencies }),
    );
    const values = Object.fromEntries(cases.map((one) => [one.alias, { enabled: true, ...one.values }]));
    await writeFile(path.join(folder, 'given.yaml'), stringify(values, { aliasDuplicateObjects: false }));
    const place = [numberLike, folder, '--namespace', numberLike, '--kube-version', '1.34.0'];
    const { stdout } = await run(
      neededHelm(),
      ['template', ...place, '--values', path.join(folder, 'given.yaml'), '--disable-openapi-validation'],
      { maxBuffer: 256 * 2 ** 20 },
    );
    return byAlias(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the manifests of each dependency, which helm names in a comment above them. */
function byAlias(rendered: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const document of rendered.split(/^---$/m)) {
    const alias = /^# Source: parent\/charts\/(\w+)\//m.exec(document)?.[1];
    if (alias !== undefined) found.set(alias, `${found.get(alias) ?? ''}---${document}`);
  }
  return found;
}

interface Setting {
  readonly setting: string;
  readonly initial: unknown;
  readonly schema: unknown;
}

function settingsOf(members: Members, prefix: string): readonly Setting[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const setting = prefix + name;
    return isSection(member)
      ? [{ setting, initial: {}, schema: {} }, ...settingsOf(member.members, `${setting}.`)]
      : [{ setting, initial: member.initial, schema: member.schema }];
  });
}

function defaultsOf(members: Members): object {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [
      name,
      isSection(member) ? defaultsOf(member.members) : member.initial,
    ]),
  );
}

function typeOfItems(schema: unknown): unknown {
  return isObject(schema) && isObject(schema['items']) ? schema['items']['type'] : undefined;
}

/** Values with which every template renders something. A Postgres of one's own only where its settings are tried. */
function everythingFor(setting: string): object {
  const isOfDatabase = /^(?:database|networkPolicy\.database)/.test(setting);
  const database = { owner: { secretName: 'owner' }, api: { secretName: 'api' }, caSecretName: 'authority' };
  return {
    publicUrl: 'https://auth.example.com',
    crds: { install: setting.startsWith('crds') },
    rbac: { boxes: { namespaces: [numberLike], clusterWide: true } },
    tls: { secretName: 'public-tls' },
    postgres: { bundled: { enabled: !isOfDatabase } },
    ...(isOfDatabase && { database }),
    api: { autoscaling: { enabled: true }, jwksHosts: ['keys.example.com'], hashThreads: 4 },
    service: { type: 'LoadBalancer' },
    ingress: { enabled: true },
    httpRoute: { enabled: setting !== 'httpRoute.parentRefs', parentRefs: [{ name: 'web' }] },
    metrics: {
      serviceMonitor: { enabled: true },
      prometheusRule: { enabled: true },
      dashboard: { enabled: true },
    },
  };
}

function withValue(values: object, [key = '', ...rest]: readonly string[], value: unknown): object {
  const inner: unknown = new Map(Object.entries(values)).get(key);
  if (rest.length > 0) return { ...values, [key]: withValue(isObject(inner) ? inner : {}, rest, value) };
  return { ...values, [key]: isObject(inner) && isObject(value) ? { ...inner, ...value } : value };
}

/** Returns the values that helm validates: maps are merged into the defaults, and null takes one away. */
function coalesced(defaults: object, given: object): object {
  const all = new Map<string, unknown>(Object.entries(defaults));
  for (const [key, value] of Object.entries(given)) {
    const initial = all.get(key);
    if (value === null && initial !== null) all.delete(key);
    else all.set(key, isObject(value) && isObject(initial) ? coalesced(initial, value) : value);
  }
  return Object.fromEntries(all);
}
