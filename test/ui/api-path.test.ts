import { expect } from 'chai';
import { apiPath, recordPath, searchPath, withQuery } from '../../api/ui/connection/api-path.ts';

const issuer = 'https://a.example/boxes/shop';

/** Returns the address that a browser asks, below the issuer. */
const asked = (path: string): string => new URL(issuer + path).href.slice(issuer.length);

describe('the path of a request of the UI', () => {
  const hostile = [
    'a/../../users/7',
    '..',
    '.',
    '%2e%2e',
    '%2E%2E/users/7',
    '../users/7',
    '..\\users\\7',
    '//evil',
    '',
  ];

  for (const id of [...hostile, 'a?status=active', 'a#b', 'a b', '$explain', '\ud800', 'é']) {
    it(`has the ID ${JSON.stringify(id)} as one segment`, () => {
      for (const path of [recordPath(apiPath`/Session`, id), apiPath`/Session/${id}`]) {
        expect(asked(path)).to.match(/^\/Session\/[^/?#]*$/);
        expect(path).not.to.match(/\/\$/);
      }
    });
  }

  it('keeps an ID that needs no encoding', () => {
    expect(recordPath(apiPath`/users`, '5')).to.equal('/users/5');
    expect(apiPath`/AccessPolicy/$explain`).to.equal('/AccessPolicy/$explain');
    expect(apiPath`/Client/${'a.b-c'}`).to.equal('/Client/a.b-c');
  });

  it('adds no parameter for a text that is searched', () => {
    expect(searchPath(apiPath`/users?_count=100`, 'q', 'a&b=c#d')).to.equal(
      '/users?_count=100&_total=none&q=a%26b%3Dc%23d',
    );
    expect(apiPath`/users?email=${'a&b@c'}`).to.equal('/users?email=a%26b%40c');
  });

  it('has another query', () => {
    expect(withQuery(apiPath`/users?a=b`, '?_page=2')).to.equal('/users?_page=2');
  });

  it('is refused where it leads elsewhere', () => {
    for (const build of [
      () => apiPath`/Session/../users`,
      () => apiPath`//evil.example`,
      () => apiPath`users`,
      () => apiPath`/users#a`,
      () => apiPath``,
    ])
      expect(build).to.throw(TypeError);
  });
});
