import { expect } from 'chai';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { issuerOf, newBrowser } from './browser.ts';

const back = 'https://app.example/back';

/** What a box says in `compatibility`, and whether its implicit grant works. */
const boxes: readonly [id: string, compatibility: object, works: boolean][] = [
  ['plain', {}, true],
  ['on', { implicit: true }, true],
  ['off', { implicit: false }, false],
  ['strict', { profile: 'strict' }, false],
  ['strict-but', { profile: 'strict', implicit: true }, true],
];

describe('compatibility.implicit of a box', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
    const app = { grant_types: ['implicit'], auth: { implicit: { redirect_uri: back } } };
    for (const [id, compatibility] of boxes) {
      await api.declare(id, [
        { kind: 'Box', id, compatibility },
        { kind: 'Client', id: 'app', ...app },
      ]);
    }
  });
  after(() => api.stop());

  for (const [id, compatibility, works] of boxes) {
    it(`${JSON.stringify(compatibility)}: the implicit grant ${works ? 'works' : 'is switched off'}`, async () => {
      const browser = newBrowser(api, id);
      const { location } = await browser.get('/auth/authorize?response_type=token&client_id=app');
      if (works) expect(location.startsWith(`${issuerOf(id)}/auth/signin?`), location).to.equal(true);
      else expect(location).to.match(/^https:\/\/app\.example\/back#error=unsupported_response_type&/);
      const metadata: unknown = JSON.parse((await browser.get('/.well-known/oauth-authorization-server')).text);
      const supported: unknown = Reflect.get(Object(metadata), 'grant_types_supported');
      expect(Array.isArray(supported) && supported.includes('implicit')).to.equal(works);
    });
  }
});
