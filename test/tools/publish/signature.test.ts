import { expect } from 'chai';
import { signingOf } from '../../../tools/publish/publication.ts';

describe('the signature of what is published', () => {
  const subject = 'images.example.com/boxgate@sha256:00';

  it('is left out without SIGN', () => {
    expect(signingOf('', { isPlain: false })).to.equal(undefined);
  });

  it('with a key is in no public log, and may be in a registry without TLS', () => {
    const signing = signingOf('cosign.key', { isPlain: true });
    const key = ['--key', 'cosign.key', '--tlog-upload=false'];
    expect(signing?.(subject)).to.deep.equal(['sign', '--yes', ...key, '--allow-http-registry', subject]);
  });

  it('without a key is that of the workflow', () => {
    expect(signingOf('keyless', { isPlain: false })?.(subject)).to.deep.equal(['sign', '--yes', subject]);
  });
});
