import { equal, deepEqual } from 'node:assert/strict';
import { setImmediate as breathe } from 'node:timers/promises';
import { forEachConcurrently, identityOf, metadataOf } from '../../../../operator/kube/client/kube-object.ts';

const identity = { namespace: 'blog', name: 'web', uid: 'u-1', resourceVersion: '7' };

describe('metadata of an object of the Kubernetes API', () => {
  it('is returned as it is', () => {
    deepEqual(metadataOf({ metadata: { uid: 'u-1', labels: { app: 'web' } } }), { uid: 'u-1', labels: { app: 'web' } });
  });

  const without: readonly (readonly [string, unknown])[] = [
    ['null', null],
    ['a text', 'metadata'],
    ['a list', [{ metadata: {} }]],
    ['an object without metadata', { spec: {} }],
    ['metadata that is a list', { metadata: ['uid'] }],
    ['metadata that is null', { metadata: null }],
  ];
  for (const [title, value] of without) it(`is empty for ${title}`, () => deepEqual(metadataOf(value), {}));
});

describe('identity of an object of the Kubernetes API', () => {
  it('leaves out the rest of the metadata', () => {
    deepEqual(identityOf({ ...identity, generation: 3, labels: {} }), identity);
  });

  for (const field of Object.keys(identity)) {
    it(`is undefined without ${field}, and for one that is not a text`, () => {
      equal(identityOf({ ...identity, [field]: undefined }), undefined);
      equal(identityOf({ ...identity, [field]: 7 }), undefined);
    });
  }

  it('has the namespace that the caller passes for an object outside namespaces', () => {
    const { namespace, ...metadata } = identity;
    deepEqual(identityOf(metadata, namespace), identity);
  });
});

describe('calls of the Kubernetes API that are made at once', () => {
  for (const [count, atOnce] of [
    [40, 16],
    [2, 2],
  ] as const) {
    it(`are ${String(atOnce)} of ${String(count)}`, async () => {
      let [now, most] = [0, 0];
      await forEachConcurrently(Array.from({ length: count }), async () => {
        now += 1;
        most = Math.max(most, now);
        await breathe();
        now -= 1;
      });
      equal(most, atOnce);
    });
  }
});
