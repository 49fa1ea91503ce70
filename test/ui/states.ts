import type { Page } from 'playwright-core';
import type { Language } from '../../api/pages/page.ts';
import type { PageState } from '../browser/pages.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { addBoss, adminAt, boss, typePassword } from './admin.ts';
import type { Admin, Person } from './admin.ts';

/** A user without any right. */
const carl: Person = { email: 'carl@shop.example', password: 'a long enough passphrase' };

/** Stores what the states of the admin UI show. */
export async function fillBox(stage: Stage): Promise<void> {
  const { api } = stage;
  await addBoss(stage);
  await addUser(api, carl.email, carl.password, 'default', '{"name": "Carl", "floor": 2}');
  for (const name of ['dora', 'emil', 'frida']) await addUser(api, `${name}@shop.example`, carl.password);
  await api.declare('default', [
    { kind: 'Group', id: 'staff', description: 'Who works here' },
    {
      kind: 'AccessPolicy',
      id: 'read-own-client',
      engine: 'cel',
      expression: 'request_method == "get" && uri == "/Client/own"',
      link: [{ resourceType: 'Client', id: 'own' }],
    },
  ]);
  await fetch(stage.authorize({ redirect_uri: 'https://elsewhere.example/back' }));
}

async function enter(page: Page, { base }: Stage, language: Language, at: string, person = boss): Promise<Admin> {
  await page.goto(`${base}/ui/${at}`);
  await typePassword(page, language, person);
  await page.getByRole('navigation').waitFor();
  return adminAt(page, language);
}

/** Opens a user in the form. */
async function openUser(page: Page, stage: Stage, language: Language): Promise<Admin> {
  const admin = await enter(page, stage, language, '#/users');
  await admin.choose(carl.email);
  await page.getByRole('heading', { level: 2, name: carl.email }).waitFor();
  return admin;
}

/** Every tab of the admin UI, and what it says where something is in the way. */
export const uiStates: readonly PageState[] = [
  {
    name: 'ui-home',
    open: async (page, stage, language) => {
      const { say } = await enter(page, stage, language, '');
      await page.getByText(say.keysEndpoint, { exact: true }).waitFor();
      await page.getByText(say.refusedToday, { exact: true }).waitFor();
    },
  },
  {
    name: 'ui-users',
    open: async (page, stage, language) => {
      const { say } = await enter(page, stage, language, '#/users');
      await page.getByRole('grid', { name: say.tabs.users }).waitFor();
    },
  },
  { name: 'ui-user', open: openUser },
  {
    name: 'ui-data',
    open: async (page, stage, language) => {
      const { say, fill } = await openUser(page, stage, language);
      await fill(say.data, '{\n  "name": "Carl",\n}');
      await page.getByText(say.notJson({ line: 3, column: 1, found: '}' })).waitFor();
    },
  },
  {
    name: 'ui-managed-group',
    open: async (page, stage, language) => {
      const { say, choose } = await enter(page, stage, language, '#/groups');
      await choose('staff');
      await page.getByText(say.managed('Group default/staff')).waitFor();
    },
  },
  {
    name: 'ui-new-group',
    open: async (page, stage, language) => {
      const { say } = await enter(page, stage, language, '#/groups/+');
      await page.getByRole('heading', { level: 2, name: say.newGroup }).waitFor();
    },
  },
  {
    name: 'ui-session',
    open: async (page, stage, language) => {
      const { say, choose } = await enter(page, stage, language, '#/sessions');
      await choose('boxgate.ui');
      await page.getByRole('button', { name: say.endSession }).waitFor();
    },
  },
  {
    name: 'ui-client',
    open: async (page, stage, language) => {
      const { say, choose } = await enter(page, stage, language, '#/clients');
      await choose('own');
      await page.getByText(say.managed('Client default/own')).waitFor();
      await page.getByRole('link', { name: 'read-own-client' }).waitFor();
    },
  },
  {
    name: 'ui-new-client',
    open: async (page, stage, language) => {
      const { say, fill } = await enter(page, stage, language, '#/clients/+');
      await page.getByRole('radio', { name: say.appTypes.web.title }).check();
      await fill(say.clientId, 'shop');
      await fill(say.entry(say.fields.redirect_uris, 1), 'http://shop.example/*');
      await page.getByRole('alert').or(page.locator('[aria-invalid]')).first().waitFor();
    },
  },
  {
    name: 'ui-policy',
    open: async (page, stage, language) => {
      const { say, choose } = await enter(page, stage, language, '#/policies');
      await choose('read-own-client');
      await page.locator('dt', { hasText: say.lastUse }).waitFor();
      await page.getByLabel(say.fields.expression, { exact: true }).waitFor();
    },
  },
  {
    name: 'ui-policies',
    open: async (page, stage, language) => {
      const { say, fill, press } = await enter(page, stage, language, '#/policies');
      await fill(say.clientId, 'own');
      await fill(say.path, '/Client/own');
      await press(say.ask);
      await page.getByText(say.granted('read-own-client')).waitFor();
    },
  },
  {
    name: 'ui-refusal',
    open: async (page, stage, language) => {
      const { say, choose } = await enter(page, stage, language, '#/refusals');
      await choose(say.reasons.redirect_uri_not_listed.wrong.replaceAll('`', ''));
      await page.getByRole('term').getByText(say.toDo, { exact: true }).waitFor();
    },
  },
  {
    name: 'ui-audit',
    open: async (page, stage, language) => {
      const { say, choose } = await enter(page, stage, language, '#/audit');
      await choose('user.signed_in');
      await page.getByRole('term').getByText(say.result, { exact: true }).waitFor();
    },
  },
  {
    name: 'ui-account',
    open: async (page, stage, language) => {
      const { say } = await enter(page, stage, language, '#/account');
      await page.getByText(say.noGrants).waitFor();
    },
  },
  {
    name: 'ui-no-right',
    open: async (page, stage, language) => {
      const { say } = await enter(page, stage, language, '#/users', carl);
      await page.getByText(say.noRight('GET', '/users')).waitFor();
    },
  },
  {
    name: 'ui-conflict',
    open: async (page, stage, language) => {
      const { say, fill, press } = await openUser(page, stage, language);
      await fill(say.data, '{"name": "Carl",\n "floor": 3}');
      await page.route('**/users/*', (route) =>
        route.request().method() === 'PUT'
          ? route.fulfill({ status: 412, contentType: 'application/json', body: '{}' })
          : route.continue(),
      );
      await press(say.save);
      await page.getByText(say.conflict).waitFor();
    },
  },
  {
    name: 'ui-signed-out',
    open: async (page, stage, language) => {
      const { say, fill, press } = await openUser(page, stage, language);
      await fill(say.data, '{"floor": 4}');
      await page.context().clearCookies();
      await page.route('**/users/*', (route) => route.fulfill({ status: 401 }));
      await press(say.save);
      await page.getByText(say.signedOut).waitFor();
    },
  },
  {
    name: 'ui-unavailable',
    open: async (page, stage, language) => {
      const { say, fill, press } = await openUser(page, stage, language);
      await fill(say.data, '{"floor": 5}');
      await page.route('**/users/*', (route) => route.fulfill({ status: 503, headers: { 'Retry-After': '3' } }));
      await press(say.save);
      await page.getByText(say.unavailable(3)).waitFor();
    },
  },
];
