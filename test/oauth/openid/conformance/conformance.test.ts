import { startOpenIdApi } from '../openid-api.ts';
import type { OpenIdApi } from '../openid-api.ts';
import { LOGIN_CHECKS } from './login-checks.ts';
import { loginFlow } from './login-flow.ts';
import { LOGIN_MODULES, OTHER_MODULES } from './modules.ts';
import type { LoginModuleName, LogoutModuleName } from './modules.ts';
import { LOGOUT_CHECKS, verifyMetadata } from './other-checks.ts';

const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>): readonly Key[] => {
  const isKey = (name: string): name is Key => name in record;
  return Object.keys(record).filter(isKey);
};

describe('the conformance suite of OpenID Connect', () => {
  let api: OpenIdApi;

  before(async () => {
    api = await startOpenIdApi();
  });
  after(() => api.stop());

  function applies(name: LoginModuleName): name is keyof typeof LOGIN_CHECKS {
    return name in LOGIN_CHECKS;
  }

  for (const [plan, ofPlan] of [
    ['Basic', (type: string) => type === 'code'],
    ['Implicit', (type: string) => type !== 'code'],
  ] as const) {
    for (const mode of [undefined, 'form_post'] as const) {
      describe(mode === undefined ? plan : `Form Post ${plan}`, () => {
        for (const name of keysOf(LOGIN_MODULES).filter(applies)) {
          for (const type of LOGIN_MODULES[name].types.filter(ofPlan)) {
            it(`${name} (${type})`, () => LOGIN_CHECKS[name](loginFlow(api, type, mode)));
          }
        }
      });
    }
  }

  describe('Config', () => {
    for (const name of keysOf(OTHER_MODULES.Config)) it(name, () => verifyMetadata(api));
  });

  describe('RP-Initiated Logout', () => {
    for (const name of keysOf<LogoutModuleName>(OTHER_MODULES['RP-Initiated Logout'])) {
      it(name, () => LOGOUT_CHECKS[name](api));
    }
  });
});
