import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { eventually } from '../support/eventually.ts';
import { member } from '../support/member.ts';
import { addBoss, boss, signedIn } from './admin.ts';

const run = promisify(execFile);

/** Somebody who has never seen the console: does one thing after the other by what is on the screen, and is counted. */
interface Newcomer {
  readonly page: Page;
  readonly actions: () => number;
  readonly follow: (link: string) => Promise<void>;
  readonly press: (button: string) => Promise<void>;
  readonly choose: (option: RegExp) => Promise<void>;
  readonly type: (field: string, text: string) => Promise<void>;
  /** Reads a field that is shown to be copied. */
  readonly read: (field: string) => Promise<string>;
}

function newcomerAt(page: Page): Newcomer {
  let count = 0;
  const act = async (action: Promise<void>): Promise<void> => {
    count += 1;
    await action;
  };
  return {
    page,
    actions: () => count,
    follow: (name) => act(page.getByRole('link', { name, exact: true }).click()),
    press: (name) => act(page.getByRole('button', { name, exact: true }).click()),
    choose: (name) => act(page.getByRole('radio', { name }).check()),
    type: (name, text) => act(page.getByRole('textbox', { name, exact: true }).fill(text)),
    read: (name) => page.getByRole('textbox', { name, exact: true }).inputValue(),
  };
}

describe('the first client, made in the console by what it says', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(() => addBoss(stage));

  it('is a service with access and its token, in at most 9 actions', async () => {
    const { page, close } = await signedIn(stage);
    const { follow, press, choose, type, read, actions } = newcomerAt(page);
    await follow('Clients');
    await follow('New client');
    await choose(/^Service/);
    await type('Client ID', 'first-service');
    await press('Save');
    const secret = await read('Client secret');
    await choose(/^Read/);
    await press('Give access');
    await press('Get a token');
    await page.getByRole('textbox', { name: 'Access token', exact: true }).waitFor();
    const token = await read('Access token');
    process.stdout.write(`      actions for a service: ${String(actions())}\n`);
    expect(actions()).to.be.at.most(9);
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`${stage.base}/users`, { headers })).status).to.equal(200);
    expect((await fetch(`${stage.base}/Client`, { headers })).status).to.equal(403);

    const command = await page.getByRole('region', { name: 'Program' }).locator('pre').innerText();
    expect(command).to.contain(secret);
    const { stdout } = await run('sh', ['-c', command]);
    expect(member(JSON.parse(stdout), 'token_type')).to.equal('Bearer');
    const environment = { ...process.env, CLIENT_SECRET: secret };
    for (const [language, program, option] of [
      ['Node', process.execPath, '-e'],
      ['Python', 'python3', '-c'],
    ] as const) {
      await press(language);
      const code = await page.getByRole('region', { name: 'Program' }).locator('pre').innerText();
      expect(code, language).not.to.contain(secret);
      const printed = await run(program, [option, code], { env: environment });
      expect(printed.stdout, language).to.match(/^bgt_/);
    }
    await close();
  });

  it('is a web app that signs people in, in at most 20 actions', async () => {
    const { page, close } = await signedIn(stage);
    const { follow, press, choose, type, read, actions } = newcomerAt(page);
    await follow('Clients');
    await follow('New client');
    await choose(/^Web app/);
    await type('Client ID', 'first-web-app');
    await type('Redirect URI 1', `${stage.app.url}/back`);
    await press('Save');
    const [client, secret] = [await read('Client ID'), await read('Client secret')];
    const issuer = await read('Issuer');
    const authorize = await read('Authorization endpoint');
    const redirect = `${stage.app.url}/back`;

    // The app sends its visitor to the endpoint, who signs in there and agrees.
    const visitor = await stage.newPage();
    const guest = newcomerAt(visitor);
    const query = {
      response_type: 'code',
      client_id: client,
      scope: 'openid email',
      redirect_uri: redirect,
      state: 's',
    };
    await visitor.goto(`${authorize}?${new URLSearchParams(query).toString()}`);
    await guest.type('Email', boss.email);
    await guest.type('Password', boss.password);
    await guest.press('Sign in');
    await guest.press('Allow');
    await visitor.waitForURL(`${redirect}**`);
    const code = new URL(visitor.url()).searchParams.get('code') ?? '';
    await visitor.context().close();

    const count = actions() + guest.actions();
    process.stdout.write(`      actions for a web app with sign-in: ${String(count)}\n`);
    expect(count).to.be.at.most(20);
    const response = await fetch(await read('Token endpoint'), {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirect }),
    });
    const answer: unknown = await response.json();
    const [, claims = ''] = String(member(answer, 'id_token')).split('.');
    const decoded: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString());
    expect(decoded).to.include({ iss: issuer, aud: client });
    await close();
  });

  it('has a secret that is shown once, and one click makes the next one', async () => {
    const { page, close } = await signedIn(stage);
    const { follow, press, choose, type, read } = newcomerAt(page);
    await follow('Clients');
    await follow('New client');
    await choose(/^API only/);
    await type('Client ID', 'first-api');
    await press('Save');
    const first = await read('Client secret');
    await press('I have copied it');
    await page.getByRole('textbox', { name: 'Client secret' }).waitFor({ state: 'detached' });
    await press('Rotate secret');
    const second = await read('Client secret');
    expect(second)
      .to.match(/^bgs_[\w-]{48}$/)
      .and.not.to.equal(first);
    const introspect = (secret: string): Promise<Response> =>
      fetch(`${stage.base}/auth/introspect`, {
        method: 'POST',
        headers: { Authorization: `Basic ${Buffer.from(`first-api:${secret}`).toString('base64')}` },
        body: new URLSearchParams({ token: 'none' }),
      });
    expect((await introspect(second)).status).to.equal(200);
    expect((await introspect(first)).status).to.equal(401);

    await page
      .getByLabel('The present secret', { exact: true })
      .selectOption({ label: 'The present secret stays valid for 1 day' });
    await press('Rotate secret');
    await page.getByText(/^The previous secret is valid until /).waitFor();
    const third = await read('Client secret');
    expect([(await introspect(second)).status, (await introspect(third)).status]).to.deep.equal([200, 200]);
    await press('End it now');
    await page.getByText(/^The previous secret is valid until /).waitFor({ state: 'detached' });
    expect([(await introspect(second)).status, (await introspect(third)).status]).to.deep.equal([401, 200]);
    await page.reload();
    await page.getByRole('button', { name: 'Rotate secret' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Client secret' }).count()).to.equal(0);
    await close();
  });

  it('says at each redirect URI what is wrong with it, while it is typed', async () => {
    const { page, close } = await signedIn(stage);
    const { follow, press, choose, type } = newcomerAt(page);
    await follow('Clients');
    await follow('New client');
    await choose(/^Single-page/);
    await type('Client ID', 'first-spa');
    await type('Redirect URI 1', 'https://app.shop.example/back');
    await type('Redirect URI 2', 'http://app.shop.example/*');
    const field = page.getByRole('textbox', { name: 'Redirect URI 2', exact: true });
    const told = async (): Promise<string> => {
      const ids = (await field.getAttribute('aria-describedby')) ?? '';
      return ids === '' ? '' : page.locator(`[id="${ids.split(' ')[0] ?? ''}"]`).innerText();
    };
    await eventually('both reasons are at the second', async () => /https:.*wildcard/s.test(await told()));
    expect(await field.getAttribute('aria-invalid')).to.equal('true');
    expect(await page.getByRole('textbox', { name: 'Redirect URI 1' }).getAttribute('aria-invalid')).to.equal(null);
    await press('Save');
    await eventually('the API says the same, there', async () => /https:.*wildcard/s.test(await told()));
    await press('Remove Redirect URI 2');
    await press('Save');
    await page.getByRole('textbox', { name: 'Issuer' }).waitFor();
    await close();
  });
});
