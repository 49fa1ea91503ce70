import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';

/** A test file whose API sends a few of the described responses. */
const FILE = 'test/http/endpoints/openapi.test.ts';

describe('the end of a run of tests', () => {
  /** Runs one test file as a run of its own. */
  async function run(
    more: Readonly<Record<string, string>>,
  ): Promise<{ readonly code: unknown; readonly said: string }> {
    const { WHOLE_RUN: _whole, RESPONSES_OF_RUN: _run, RESPONSES_FOLDER: _folder, ...environment } = process.env;
    const child = spawn('node_modules/.bin/mocha', [FILE], {
      env: { ...environment, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<unknown>((resolve, reject) => {
      child.on('error', reject).on('close', resolve);
    });
    const said = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await ended, said: said.join('') };
  }

  it('fails a run of every test in which a described response never occurred, and names it', async () => {
    const { code, said } = await run({ WHOLE_RUN: 'yes' });
    expect(code, said).to.equal(1);
    expect(said).to.contain('0 not as described').and.to.contain('described, but never sent: POST /auth/token 200');
    expect(said).not.to.contain('never sent: GET /openapi.json 200');
  });

  it('does not fail a run of some tests', async () => {
    const { code, said } = await run({});
    expect(code, said).to.equal(0);
    expect(said).to.match(/\d+ responses compared with the OpenAPI document, 0 not as described/);
  });
});
