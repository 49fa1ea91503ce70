import { LOGIN_MODULES, OTHER_MODULES } from './modules.ts';
import type { LoginModule, LoginType } from './modules.ts';

const loginModules: readonly (readonly [name: string, module: LoginModule])[] = Object.entries(LOGIN_MODULES);

/** The page docs/conformance.md: what each module of the suite comes to here. */
export function conformancePage(): string {
  return [introduction, ...plans(), '## Basic, Implicit and Form Post']
    .join('\n\n')
    .concat(loginTable(), otherTables());
}

const introduction = `# OpenID Connect conformance

<!-- Made from test/oauth/openid/conformance/modules.ts by \`make generate\`. Do not edit. -->

The suite of the OpenID Foundation (<https://gitlab.com/openid/conformance-suite>) tests a server in plans, each of modules. The suite
itself has not been run against Boxgate, and Boxgate is not certified. What each module checks is a test of ours with the
module's name, over HTTP against a running API (\`test/oauth/openid/conformance/\`): it fails when the server stops doing it.`;

const inPlan = (isOfPlan: (type: LoginType) => boolean) =>
  loginModules.flatMap(([, { types, not }]) => types.filter(isOfPlan).map(() => not === undefined));

function plans(): readonly string[] {
  const [basic, implicit] = [inPlan((type) => type === 'code'), inPlan((type) => type !== 'code')];
  const one = (count: number): boolean[] => Array.from({ length: count }, () => true);
  const rows = [
    ['Basic', basic],
    ['Form Post Basic', basic],
    ['Implicit', implicit],
    ['Form Post Implicit', implicit],
    ...Object.entries(OTHER_MODULES).map(([plan, modules]) => [plan, one(Object.keys(modules).length)] as const),
  ] as const;
  const lines = rows.map(([plan, results]) => {
    const passed = results.filter(Boolean).length;
    return `| ${plan} | ${String(results.length)} | ${String(passed)} | ${String(results.length - passed)} |`;
  });
  return [
    ['| plan | modules, by response type | passed | do not apply |', '|---|---|---|---|', ...lines].join('\n'),
    `Clients are registered by manifests: the plans run with \`static_client\`. What needs dynamic registration is not there.`,
  ];
}

function loginTable(): string {
  const lines = loginModules.map(([name, { types, checks, not }]) => {
    const mark = (type: LoginType): string => {
      if (!types.includes(type)) return '';
      return not === undefined ? 'passed' : 'does not apply';
    };
    const text = not === undefined ? checks : `${checks}: ${not}`;
    return `| \`${name}\` | ${text} | ${mark('code')} | ${mark('id_token')} | ${mark('id_token token')} |`;
  });
  return [
    '',
    '',
    '| module | what it checks | `code` | `id_token` | `id_token token` |',
    '|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

function otherTables(): string {
  const tables = Object.entries(OTHER_MODULES).map(([plan, modules]) => {
    const lines = Object.entries(modules).map(([name, checks]) => `| \`${name}\` | ${checks} | passed |`);
    return [`## ${plan}`, '', '| module | what it checks | |', '|---|---|---|', ...lines, ''].join('\n');
  });
  return `\n${tables.join('\n')}`;
}
