import { expect } from 'chai';
import { defaultRotationPeriod } from '../../api/oauth/keys/plan-keys.ts';
import { refreshLifetimes } from '../../api/oauth/refresh/settings.ts';
import { planForm } from '../../api/oauth/token/plan.ts';
import { defaultSignInLifetime } from '../../api/users/sign-in/begin-sign-in.ts';
import { shortestPassword } from '../../api/users/password-faults.ts';
import type { Box } from '../../crds/box.ts';
import type { Kind } from '../../crds/kind.ts';
import { manifestSchemas } from '../../crds/manifest-schema.ts';
import { fieldsOf } from '../../crds/reference.ts';
import { schemaNode } from '../../crds/schema-node.ts';

const box: Box = { resourceType: 'Box', id: 'without-settings' };
const refresh = refreshLifetimes({}, box);
const hour = 3600;
const day = 24 * hour;

/** Default of each number in the code, and the unit of the words in which its description tells it. */
const rows: readonly (readonly [kind: Kind, field: string, inCode: number, written: string])[] = [
  ['Box', 'signing.rotation_period', defaultRotationPeriod / day, '90 days'],
  ['Box', 'sign_in.session_lifetime', defaultSignInLifetime / hour, '12 hours'],
  ['Box', 'tokens.default_lifetime', planForm({}, box).lifetime / day, '30 days'],
  ['Box', 'tokens.max_refresh_lifetime', refresh.absolute / 1000 / day / 365, 'one year'],
  ['Box', 'password.min_length', shortestPassword(box), '8'],
  ['Client', 'auth.authorization_code.refresh_token_expiration', refresh.sliding / 1000 / day, '30 days'],
];

describe('the descriptions of fields', () => {
  for (const [kind, field, inCode, written] of rows) {
    it(`tell the default of the code for ${field} of a ${kind}: ${written}`, () => {
      const all = fieldsOf(schemaNode(manifestSchemas[kind].properties.spec));
      const found = all.find(({ path }) => path === field) ?? expect.fail('no such field');
      expect(found.node.description).to.match(new RegExp(`(?:${written} by default|by default ${written})`, 'i'));
      expect(inCode).to.equal(written === 'one year' ? 1 : Number.parseInt(written, 10));
    });
  }
});
