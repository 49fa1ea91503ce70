import { expect } from 'chai';
import { readResetAdminConfig } from '../../../api/config.ts';
import { digestStep, encryptionStep, forgetStep, managementStep, nextOf } from '../../../operator/keys/rotation.ts';
import type { RotationStep } from '../../../operator/keys/rotation.ts';

/** Takes steps one after the other, as a Secret keeps them; returns the value after each. */
function valuesOf(
  key: string,
  annotation: string,
  first: string,
  step: (value: string, annotation: string | undefined) => RotationStep,
  steps: number,
): readonly string[] {
  const values: string[] = [];
  let value = first;
  let kept: string | undefined;
  for (let nth = 0; nth < steps; nth += 1) {
    const { change } = step(value, kept);
    value = change.data[key] ?? '';
    kept = annotation in change.annotations ? (change.annotations[annotation] ?? undefined) : kept;
    values.push(value);
  }
  return values;
}

describe('steps of a rotation', () => {
  it('accepts the new management key before it is used, and the old one until nobody uses it', () => {
    const step = (value: string, kept: string | undefined) => managementStep(value, kept, 'new');
    const values = valuesOf('management-keys', 'boxgate.dev/rotation-management', 'old', step, 4);
    expect(values).to.deep.equal(['old,new', 'new,old', 'new', 'new,new']);
  });

  it('lets every replica open what the new encryption key seals before one seals with it, and keeps older keys', () => {
    const step = (value: string, kept: string | undefined) => encryptionStep(value, kept, 'new');
    const values = valuesOf('encryption-key', 'boxgate.dev/rotation-encryption', 'old,older', step, 2);
    expect(values).to.deep.equal(['old,older,new', 'new,old,older']);
  });

  it('seals with no other encryption key where the new one was removed between the steps', () => {
    const { change } = encryptionStep('old,older', undefined, 'new');
    const kept = change.annotations['boxgate.dev/rotation-encryption'] ?? undefined;
    const gone = 'The key that step 1 added is no longer in encryption-key: something else has written the Secret.';
    for (const reverted of ['old,older', 'old']) expect(() => encryptionStep(reverted, kept, 'x')).to.throw(gone);
    // A rotation that an earlier release began.
    expect(() => encryptionStep('old', 'added', 'x')).to.throw(gone);
    expect(encryptionStep('old,new', 'added', 'x').change.data).to.deep.equal({ 'encryption-key': 'new,old' });
  });

  it('adds no more encryption keys than the API reads', () => {
    const keys = (count: number): string =>
      Array.from({ length: count }, (_, nth) => Buffer.alloc(32, nth).toString('base64')).join(',');
    const fresh = Buffer.alloc(32, 99).toString('base64');
    const value = encryptionStep(keys(15), undefined, fresh).change.data['encryption-key'] ?? '';
    const read = (BOXGATE_ENCRYPTION_KEY: string) =>
      readResetAdminConfig({ BOXGATE_DATABASE_URL: 'postgres://boxgate_api@db/boxgate', BOXGATE_ENCRYPTION_KEY });
    expect(read(value).encryptionKeys).to.have.length(16);
    expect(() => read(keys(17))).to.throw('BOXGATE_ENCRYPTION_KEY');
    expect(() => encryptionStep(keys(16), undefined, fresh)).to.throw('boxgate keys forget encryption');
  });

  it('removes older encryption keys only when asked, and not during a rotation', () => {
    expect(forgetStep('new,old,older', undefined).change.data).to.deep.equal({ 'encryption-key': 'new' });
    for (const begun of ['added', 'added-2']) {
      expect(() => forgetStep('old,new', begun)).to.throw('A rotation of the encryption key has begun');
    }
  });

  it('replaces the digest key in one step', () => {
    expect(digestStep('new').change.data).to.deep.equal({ 'digest-key': 'new' });
  });

  it('says after each step what to do before the next one', () => {
    const next = (step: RotationStep) => nextOf(step, 'auth');
    expect(next(managementStep('old', undefined, 'new'))).to.equal(
      'kubectl --namespace auth rollout restart deployment/boxgate-api; when it is rolled out, run this command again',
    );
    expect(next(managementStep('old,new', 'added', 'x'))).to.contain(
      'deployment/boxgate-api deployment/boxgate-operator;',
    );
    expect(next(encryptionStep('old', undefined, 'new'))).to.contain('run this command again');
    expect(next(digestStep('new'))).to.match(
      /^kubectl --namespace auth rollout restart deployment\/boxgate-operator; /,
    );
  });
});
