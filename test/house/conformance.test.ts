import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { conformancePage } from '../oauth/openid/conformance/conformance-page.ts';
import { LOGIN_CHECKS } from '../oauth/openid/conformance/login-checks.ts';
import { LOGIN_MODULES } from '../oauth/openid/conformance/modules.ts';
import type { LoginModule } from '../oauth/openid/conformance/modules.ts';

describe('the page on conformance', () => {
  const page = readFileSync('docs/reference/conformance.md', 'utf8');
  const modules: readonly (readonly [string, LoginModule])[] = Object.entries(LOGIN_MODULES);

  it('is the one that `make generate` makes of the modules', () => {
    expect(page).to.equal(conformancePage());
  });

  it('has a reason for each module that does not apply, and a test for every other one', () => {
    for (const [name, { not }] of modules) expect(name in LOGIN_CHECKS, name).to.equal(not === undefined);
  });
});
