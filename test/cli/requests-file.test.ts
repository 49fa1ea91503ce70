import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CliError } from '../../api/cli/cli-error.ts';
import { givenRequests } from '../../api/cli/plan.ts';

describe('the requests of a plan', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-requests-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  function read(text: string) {
    writeFileSync(path.join(folder, 'requests.yaml'), text);
    return givenRequests(folder, undefined);
  }

  async function refusalOf(text: string): Promise<string> {
    try {
      await read(text);
    } catch (error) {
      if (error instanceof CliError) return error.message;
      throw error;
    }
    return 'none';
  }

  it('are none in a folder without the file', async () => {
    expect(await givenRequests(tmpdir(), undefined)).to.deep.equal([]);
  });

  it('mean by unquoted words what the same words mean to kubectl in a manifest', async () => {
    const [first] = await read(
      '- { request: { request-method: get, uri: /orders }, subject: { token: { admin: yes, n: 010 } } }',
    );
    expect(first).to.deep.equal({
      request: { 'request-method': 'get', uri: '/orders' },
      subject: { token: { admin: true, false: 8 } },
    });
  });

  it('are refused with the file and the line of a fault', async () => {
    expect(await refusalOf('- request: {}\n- request: [\n')).to.match(/requests\.yaml:[23]: /);
  });

  for (const [what, text] of [
    ['is no list', 'request: { uri: /orders }\n'],
    ['has two documents', '- request: {}\n---\n- request: {}\n'],
  ] as const) {
    it(`are refused if the file ${what}`, async () => {
      expect(await refusalOf(text)).to.contain('requests.yaml must be a list of requests');
    });
  }

  it('are refused with the number of an entry without a request', async () => {
    expect(await refusalOf('- request: {}\n- subject: {}\n')).to.contain(
      'requests.yaml: entry 2 must have a `request`',
    );
  });
});
