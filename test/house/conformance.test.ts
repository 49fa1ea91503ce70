import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { conformancePage } from '../oauth/openid/conformance/conformance-page.ts';
import { LOGIN_CHECKS } from '../oauth/openid/conformance/login-checks.ts';
import { LOGIN_MODULES, OTHER_MODULES } from '../oauth/openid/conformance/modules.ts';
import type { LoginModule } from '../oauth/openid/conformance/modules.ts';
import { LOGOUT_CHECKS } from '../oauth/openid/conformance/other-checks.ts';

describe('the page on conformance', () => {
  const page = readFileSync('docs/reference/conformance.md', 'utf8');
  const modules: readonly (readonly [string, LoginModule])[] = Object.entries(LOGIN_MODULES);

  it('is the one that `make generate` makes of the modules', () => {
    expect(page).to.equal(conformancePage());
  });

  it('says of no module that it passed whose name no test has', () => {
    const tests = new Set([
      ...Object.keys(LOGIN_CHECKS),
      ...Object.keys(LOGOUT_CHECKS),
      ...Object.keys(OTHER_MODULES.Config),
    ]);
    // E-32: the page has the words of the suite, so it must not say PASSED of a module that nothing here checks.
    const rows = [...page.matchAll(/^\| `(oidcc-[a-z0-9-]+)`(.*)\|$/gm)];
    const passed = rows.filter(([, , cells = '']) => cells.includes(' PASSED ')).map(([, name = '']) => name);
    expect(passed.filter((name) => !tests.has(name))).to.deep.equal([]);
    expect(passed).not.to.deep.equal([]);
    const named = new Set(rows.map(([, name]) => name));
    expect([...tests].filter((name) => !named.has(name))).to.deep.equal([]);
  });

  it('has a reason for each module that does not apply, and a test for every other one', () => {
    for (const [name, { not }] of modules) expect(name in LOGIN_CHECKS, name).to.equal(not === undefined);
  });
});
