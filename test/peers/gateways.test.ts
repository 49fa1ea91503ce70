import { expect } from 'chai';
import { sendRequest } from '../http/raw-http.ts';
import { blocksOf, replaced } from '../support/page-block.ts';
import { startProgram } from './documented-program.ts';
import { caddyPage, nginxPage } from './gateway-pages.ts';
import { describeGateway } from './gateway-stories.ts';

describeGateway('nginx', nginxPage);
describeGateway('caddy', caddyPage);

describe('an app with Express, as docs/reference/auth-check.md has it', () => {
  const [program = ''] = blocksOf('reference/auth-check.md', 'The path that the app sees', 'js');
  const paths = [
    '/orders/7',
    '/admin/../orders/7',
    '/admin/%2e%2E/orders',
    '/orders/.%2e/admin',
    '/orders/..',
    '/orders/.x/..y',
  ];

  async function answersOf(source: string): Promise<readonly string[]> {
    const app = await startProgram([process.execPath, '--input-type=module', '-e', source], {});
    try {
      return await Promise.all(
        paths.map(async (target) => {
          const { status, text } = await sendRequest(app.url, { method: 'GET', target, headers: [['Host', 'app']] });
          return `${String(status)} ${text}`;
        }),
      );
    } finally {
      await app.stop();
    }
  }

  it('refuses a path that it would read differently than the box', async () => {
    const refused = '403 Forbidden';
    expect(await answersOf(program)).to.deep.equal(['200 orders', refused, refused, refused, refused, '200 orders']);
  });

  it('would else show what nobody has allowed', async () => {
    const open = replaced(program, { 'response.sendStatus(403)': 'next()' });
    expect((await answersOf(open))[1]).to.equal('200 admin');
  });
});
