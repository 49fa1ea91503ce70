import type { Ground, Story } from './ground.ts';

/** A policy with some rule lets the client `app`; another rule withdraws it. */
function narrowed(before: object, after: object): Story {
  return async (ground: Ground) => {
    await ground.declare(ground.client(), ground.policy(before));
    const { access } = await ground.tokens();
    return { use: (api) => ground.opens(api, access), withdraw: () => ground.declare(ground.policy(after)) };
  };
}

const get = { 'request-method': 'get' };
const put = { 'request-method': 'put' };
const schemaOf = (method: string): object => ({ properties: { 'request-method': { const: method } } });
const rule = (matcho: object): object => ({ engine: 'matcho', matcho });

/** For each field of an AccessPolicy that grants something. */
export const policyStories: Readonly<Record<string, Story>> = {
  async 'AccessPolicy.id'(ground) {
    await ground.app();
    const { access } = await ground.tokens();
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.one.remove(ground.box, [{ kind: 'AccessPolicy', id: 'app' }]),
    };
  },
  'AccessPolicy.engine': narrowed({ engine: 'allow' }, rule(put)),
  'AccessPolicy.link': narrowed({}, { link: [{ resourceType: 'Client', id: 'other' }] }),
  'AccessPolicy.link (reference)': narrowed({ link: [{ reference: 'Client/app' }] }, { link: [] }),
  'AccessPolicy.subjects': narrowed({ link: [], subjects: 'authenticated' }, { link: [] }),
  async 'AccessPolicy.apps'(ground) {
    // As Envoy asks: the app is the host.
    await ground.declare(ground.client(), ground.policy({ apps: ['127.0.0.1'] }));
    const { access } = await ground.tokens();
    return {
      use: (api) => ground.opens(api, access, '/auth/check/orders'),
      withdraw: () => ground.declare(ground.policy({ apps: ['shop.example'] })),
    };
  },
  'AccessPolicy.schema': narrowed(
    { engine: 'json-schema', schema: schemaOf('get') },
    { engine: 'json-schema', schema: schemaOf('put') },
  ),
  'AccessPolicy.matcho': narrowed(rule(get), rule(put)),
  'AccessPolicy.expression': narrowed(
    { engine: 'cel', expression: 'request_method == "get"' },
    { engine: 'cel', expression: 'request_method == "put"' },
  ),
  'AccessPolicy.and': narrowed(
    { engine: 'complex', and: [rule(get)] },
    { engine: 'complex', and: [rule(get), rule(put)] },
  ),
  'AccessPolicy.or': narrowed(
    { engine: 'complex', or: [rule(get), rule(put)] },
    { engine: 'complex', or: [rule(put)] },
  ),
};
