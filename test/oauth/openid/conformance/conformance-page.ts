import { LOGIN_MODULES, OTHER_MODULES } from './modules.ts';
import type { LoginModule, LoginType } from './modules.ts';
import { NOT_PASSED, SUITE_VERSION } from './suite-results.ts';
import type { SuiteResult } from './suite-results.ts';

const loginModules: readonly (readonly [name: string, module: LoginModule])[] = Object.entries(LOGIN_MODULES);

/** A plan of the suite: its name, and the result of each module that it runs. */
type Plan = readonly [name: string, results: readonly SuiteResult[]];

/** The page docs/reference/conformance.md: what the suite said. Modules that it does not name have passed. */
export function conformancePage(): string {
  return [introduction, plansTable(), reasons(), notDynamic(), limits].join('\n\n').concat('\n');
}

const introduction = `# OpenID Connect conformance

<!-- Made from test/oauth/openid/conformance/modules.ts and suite-results.ts by \`make generate\`. Do not edit. -->

The suite of the OpenID Foundation (<https://gitlab.com/openid/conformance-suite>) tests a server in plans, each of modules. Version
${SUITE_VERSION} was run against Boxgate with clients that manifests declare (\`static_client\`). Boxgate is not certified.

Modules that are not named below have PASSED. What each module checks is also a test with the module's name, over HTTP against a running API (\`test/oauth/openid/conformance/\`).`;

/** Returns what the suite said about a module; undefined if it does not run it with static clients. */
function resultOf(name: string, mode: 'default' | 'form_post' = 'default'): SuiteResult | undefined {
  const module: LoginModule | undefined = loginModules.find(([one]) => one === name)?.[1];
  if (module?.isDynamic === true) return undefined;
  const other = NOT_PASSED[name];
  if (other === undefined) return 'PASSED';
  return mode === 'form_post' ? (other.formPost ?? other.result) : other.result;
}

function loginPlan(plan: string, isOfPlan: (type: LoginType) => boolean, mode: 'default' | 'form_post'): Plan {
  const results = loginModules.flatMap(([name, { types }]) => types.filter(isOfPlan).map(() => resultOf(name, mode)));
  return [plan, results.filter((result) => result !== undefined)];
}

function plansTable(): string {
  const isCode = (type: LoginType): boolean => type === 'code';
  const isImplicit = (type: LoginType): boolean => type !== 'code';
  const plans: readonly Plan[] = [
    loginPlan('Basic', isCode, 'default'),
    loginPlan('Form Post Basic', isCode, 'form_post'),
    loginPlan('Implicit', isImplicit, 'default'),
    loginPlan('Form Post Implicit', isImplicit, 'form_post'),
    ...Object.entries(OTHER_MODULES).map(([plan, modules]): Plan => [
      plan,
      Object.keys(modules).map((name) => resultOf(name) ?? 'SKIPPED'),
    ]),
  ];
  const columns = ['PASSED', 'REVIEW', 'WARNING', 'SKIPPED', 'FAILED'] as const;
  const lines = plans.map(([plan, results]) => {
    const counts = columns.map((column) => String(results.filter((result) => result === column).length));
    return `| ${[plan, String(results.length), ...counts].join(' | ')} |`;
  });
  return [
    `| plan | modules, by response type | ${columns.join(' | ')} |`,
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

/** Returns a line for each reason that the suite did not say PASSED. */
function reasons(): string {
  const byReason = Map.groupBy(Object.entries(NOT_PASSED), ([, { why }]) => why);
  const lines = [...byReason].map(([why, modules]) => {
    const names = modules.map(([name]) => `\`${name}\``).join(', ');
    return `- ${why}: ${names}.`;
  });
  return lines.join('\n');
}

/** Returns a line for the modules that the suite does not run with static clients. */
function notDynamic(): string {
  const names = loginModules.flatMap(([name, { isDynamic }]) => (isDynamic === true ? [`\`${name}\``] : []));
  return `They need dynamic registration, so the suite does not run them with static clients: ${names.join(', ')}.`;
}

const limits = `With a client that has the implicit grant alone, \`oidcc-response-type-missing\` failed in that run: the error was in the fragment. Since then it is in the
query (RFC 6749 §4.1.2.1), which a test checks.

Not run: hybrid response types, which Boxgate does not have because OAuth 2.1 drops tokens in authorization responses; dynamic registration;
front-channel and back-channel logout; session management; FAPI.`;
