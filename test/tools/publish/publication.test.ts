import { expect } from 'chai';
import { publicationOf, PublishError } from '../../../tools/publish/publication.ts';

const released = { version: '1.4.0', tags: ['v1.4.0'], changed: '' };

describe('make publish', () => {
  it('publishes the release that is checked out', () => {
    expect(publicationOf('images.example.com/team', '', released)).to.deep.equal({
      version: '1.4.0',
      image: 'images.example.com/team/boxgate',
      charts: 'oci://images.example.com/team/charts',
      isPlain: false,
    });
  });

  it('publishes another version of any checkout if it is named', () => {
    const other = { version: '1.4.0', tags: [], changed: ' M README.md' };
    expect(publicationOf('images.example.com', '1.5.0-rc.1', other)).to.deep.include({ version: '1.5.0-rc.1' });
  });

  for (const registry of ['127.0.0.1:5000', '127.1.2.3', 'localhost:5000/a/b', '[::1]:5000']) {
    it(`speaks plain HTTP with ${registry}`, () => {
      expect(publicationOf(registry, '1.0.0', released)).to.deep.include({ isPlain: true });
    });
  }

  for (const registry of [
    '127.0.0.1.example.com',
    'localhost.example.com:5000',
    '10.0.0.1:5000',
    'example.com/localhost',
  ]) {
    it(`speaks TLS with ${registry}`, () => {
      expect(publicationOf(registry, '1.0.0', released)).to.deep.include({ isPlain: false });
    });
  }

  const refused = [
    ['', '', released, /^REGISTRY must be a registry/],
    ['https://images.example.com', '', released, /^REGISTRY must be/],
    ['images.example.com/Team', '', released, /^REGISTRY must be/],
    ['images.example.com/', '', released, /^REGISTRY must be/],
    ['--insecure', '', released, /^REGISTRY must be/],
    ['images.example.com', 'v1.4.0', released, /^VERSION must be a version such as .*, not "v1\.4\.0"/],
    ['images.example.com', '1.4', released, /^VERSION must be/],
    ['images.example.com', '1.4.0+build', released, /^VERSION must be/],
    [
      'images.example.com',
      '',
      { ...released, tags: ['v1.3.0'] },
      /^this commit is not tagged v1\.4\.0: check out a rel/,
    ],
    ['images.example.com', '', { ...released, changed: ' M a' }, /^these files differ from the release: .*\n M a$/],
  ] as const;
  for (const [registry, version, checkout, sentence] of refused) {
    it(`refuses registry "${registry}", version "${version}", ${checkout.tags.join()}${checkout.changed}`, () => {
      expect(() => publicationOf(registry, version, checkout)).to.throw(PublishError, sentence);
    });
  }
});
