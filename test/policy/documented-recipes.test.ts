import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { addressedBy } from '../../api/http/resources/explained-request.ts';
import { decide } from '../../api/policy/decide.ts';
import { createPolicyIndex } from '../../api/policy/policy-index.ts';
import { requestObject } from '../../api/policy/request-object.ts';
import type { RequestObject } from '../../api/policy/request-object.ts';
import { isObject } from '../../crds/path.ts';
import { checkManifest } from '../../crds/manifest.ts';
import { isUnconditional } from '../../crds/warnings.ts';
import { checkResource } from '../../crds/validate.ts';
import { examplesIn, resourceIn, subjectOf } from './documented-examples.ts';

const page = readFileSync('docs/guides/policy-recipes.md', 'utf8');
const recipes = examplesIn(page);

describe('docs/guides/policy-recipes.md', () => {
  for (const { source, rows } of recipes) {
    const index = createPolicyIndex();
    const checked = checkResource('AccessPolicy', resourceIn(source));
    const name = checked.ok ? checked.resource.id : source;
    if (checked.ok) index.set(checked.resource);

    it(`${name}: is a manifest that may be applied, with a condition, and shows both answers`, () => {
      expect(checkManifest(parse(source))).to.have.property('ok', true);
      expect(checked.ok && isUnconditional(checked.resource)).to.equal(false);
      expect([...new Set(rows.map(({ answer }) => answer))].sort()).to.deep.equal(['denied', 'granted']);
    });

    for (const { request, answer } of rows) {
      it(`${name}: ${request} is ${answer}`, () => {
        const { app, asked } = read(request);
        expect(decide(index.candidates(subjectOf(asked), app), asked).granted ? 'granted' : 'denied').to.equal(answer);
      });
    }
  }

  it('has a recipe below each heading', () => {
    const sections = page.split(/^## /m).slice(1);
    expect(sections).to.have.length(7);
    for (const section of sections) expect(examplesIn(section), section.split('\n')[0]).not.to.have.length(0);
  });

  it('shows requests that only the policy that is too wide grants', () => {
    const answers = (name: string) => {
      const found = recipes.find(({ source }) => source.includes(`name: ${name},`));
      return new Map(found?.rows.map(({ request, answer }) => [request, answer]));
    };
    const right = answers('orders');
    const wrong = [...answers('orders-too-wide')].filter(([request, answer]) => right.get(request) !== answer);
    expect(wrong.map(([request]) => request)).to.include('{app: shop.example, uri: /orders-internal/keys}');
  });
});

/** Returns the request of a row as policies would see it, and the app that it is for. */
function read(row: string): { readonly app: string | undefined; readonly asked: RequestObject } {
  const parsed: unknown = parse(row);
  const fields = isObject(parsed) ? parsed : {};
  const { app, time, 'request-method': method = 'get', uri = '/', 'remote-addr': address = '192.0.2.7' } = fields;
  const asked = requestObject({
    method: String(method),
    uri: String(uri),
    remoteAddr: typeof address === 'string' ? address : undefined,
    box: 'shop',
    time: typeof time === 'string' ? Date.parse(time) / 1000 : 1_750_000_100,
    ...(app === undefined && { resource: addressedBy(String(uri)) }),
    ...(Array.isArray(fields['changes']) && { changes: fields['changes'].map(String) }),
    client: isObject(fields['client']) ? fields['client'] : { id: 'web' },
    user: isObject(fields['user']) ? fields['user'] : undefined,
  });
  return { app: typeof app === 'string' ? app : undefined, asked };
}
