import { expect } from 'chai';
import { requestedAccess } from '../../../api/oauth/token/requested-access.ts';
import { errorOf } from '../refusal.ts';

const asked = (fields: Readonly<Record<string, string>>) => requestedAccess(new Map(Object.entries(fields)));

describe('what a token request asks for', () => {
  it('is nothing when it says nothing', () => {
    expect(asked({})).to.deep.equal({ audience: undefined, scope: undefined });
  });

  it('is its audience and scope, as they stand', () => {
    expect(asked({ audience: 'files', scope: 'read write' })).to.deep.equal({ audience: 'files', scope: 'read write' });
  });

  const resources = [
    'https://files.example',
    'https://files.example:8443/a/b?tenant=1',
    'HTTPS://files.example/%C3%A4',
    'https://[::1]/files',
    'urn:example:files',
    'com.example.files:/reports',
  ];
  for (const resource of resources) {
    it(`RFC 8707 is the resource ${resource} as its audience`, () => {
      expect(asked({ resource }).audience).to.equal(resource);
      expect(asked({ resource, audience: resource }).audience).to.equal(resource);
    });
  }

  const refused = {
    'without a scheme': 'files.example/a',
    'with a path only': '/files',
    'with an empty scheme': '://files.example',
    'with nothing behind the scheme': 'https:',
    'with a scheme that begins with a digit': '1https://files.example',
    'with a fragment': 'https://files.example#top',
    'with an empty fragment': 'https://files.example#',
    'with a blank': 'https://files.example/a b',
    'with half an escape': 'https://files.example/%4',
    'with a letter beyond ASCII': 'https://files.example/ä',
    'of two lines': 'https://files.example\nx',
  };
  for (const [what, resource] of Object.entries(refused)) {
    it(`RFC 8707 is refused ${what}: a resource is an absolute URI without a fragment`, () => {
      expect(errorOf(() => asked({ resource }))).to.deep.include({
        code: 'invalid_target',
        message: 'resource must be an absolute URI without a fragment (RFC 8707 section 2)',
      });
    });
  }

  it('RFC 8707 is refused when resource and audience name two targets', () => {
    const both = { resource: 'https://files.example', audience: 'https://mail.example' };
    expect(errorOf(() => asked(both))).to.deep.include({
      code: 'invalid_target',
      message: 'resource and audience name two targets: a token is for one',
    });
  });
});
