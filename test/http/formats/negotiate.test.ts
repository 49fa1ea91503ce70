import { expect } from 'chai';
import { negotiate, render } from '../../../api/http/formats/negotiate.ts';
import { Problem } from '../../../api/problem.ts';

describe('negotiate', () => {
  const cases: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/yaml', 'application/yaml'],
    ['text/yaml', 'text/yaml'],
    ['text/*', 'text/yaml'],
    ['application/x-yaml', 'application/x-yaml'],
    ['application/yaml;q=0.5, application/json;q=0.4', 'application/yaml'],
    ['text/html, application/json;q=0.1', 'application/json'],
    ['application/json;q=0, */*', 'application/yaml'],
    ['text/html, */*;q=0.1', 'application/json'],
    // Headers of curl and requests, axios, Java, Feign, .NET, Angular, OData, Go without one and with an empty one.
    ['*/*', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 'application/json'],
    ['*', 'application/json'],
    ['', 'application/json'],
    [' ', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json;charset=UTF-8', 'application/json'],
    ['application/json; charset="utf-8"', 'application/json'],
    ['application/json;odata=verbose;q=0.5, application/yaml;q=0.4', 'application/json'],
    ['application/yaml; charset=utf-8; q=0.9, application/json; charset=utf-8; q=0.1', 'application/yaml'],
    ['text/plain; note="a, application/xml", application/json', 'application/json'],
  ];
  for (const [accept, format] of cases) {
    it(`answers Accept: ${String(accept)} with ${format}`, () => {
      expect(negotiate(accept)).to.equal(format);
    });
  }

  for (const accept of ['text/html', 'application/json;q=0', 'garbage', 'a*', 'application/xml, text/plain']) {
    it(`refuses Accept: ${accept} and says what there is`, () => {
      expect(() => negotiate(accept))
        .to.throw(Problem, 'application/json, application/yaml')
        .with.property('code', 'not-acceptable');
    });
  }
});

describe('render', () => {
  it('writes JSON, and tells caches that the answer depends on Accept', () => {
    expect(render({ status: 201, headers: { ETag: '"1"' }, body: { a: 'é' } }, 'application/json')).to.deep.equal({
      status: 201,
      headers: { ETag: '"1"', Vary: 'Accept' },
      contentType: 'application/json; charset=utf-8',
      body: '{"a":"é"}',
    });
  });

  it('writes YAML that older readers take for the same, without aliases', () => {
    const same = { b: 'x'.repeat(200) };
    const { body, contentType } = render(
      { status: 200, body: { a: ['no', '0123', '1:2'], c: same, d: same } },
      'text/yaml',
    );
    expect(contentType).to.equal('text/yaml; charset=utf-8');
    expect(body).to.equal(
      `a:\n  - "no"\n  - "0123"\n  - "1:2"\nc:\n  b: ${'x'.repeat(200)}\nd:\n  b: ${'x'.repeat(200)}\n`,
    );
  });

  it('sends no body where there is none', () => {
    expect(render({ status: 204 }, 'application/yaml')).to.deep.equal({ status: 204, headers: { Vary: 'Accept' } });
  });
});
