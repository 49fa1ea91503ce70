import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Language } from '../../api/pages/page.ts';
import { messages as pageMessages } from '../../api/pages/messages.ts';
import { messages } from '../../api/ui/messages/de.ts';
import type { Messages, Tab } from '../../api/ui/messages/messages.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';

/** Somebody at the keyboard of the admin UI, who knows what it says in their language. */
export interface Admin {
  readonly page: Page;
  readonly say: Messages;
  /** Opens a tab and waits for its list. */
  readonly open: (tab: Tab) => Promise<void>;
  readonly press: (name: string) => Promise<void>;
  readonly fill: (label: string, text: string) => Promise<void>;
  /** Selects a record in the list by a text that its row contains. */
  readonly choose: (text: string) => Promise<void>;
  /** Texts of the rows that the list shows. */
  readonly rows: () => Promise<string[]>;
  readonly sees: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Email and password of a user. */
export interface Person {
  readonly email: string;
  readonly password: string;
}

/** An administrator: a policy grants everything. */
export const boss: Person = { email: 'boss@shop.example', password: 'a long enough passphrase' };

/** Stores the administrator, and declares the policy; resolves with the ID. */
export async function addBoss({ api }: Pick<Stage, 'api'>): Promise<number> {
  const id = await addUser(api, boss.email, boss.password);
  const link = [{ resourceType: 'User', id: String(id) }];
  await api.declare('default', [{ kind: 'AccessPolicy', id: 'boss', engine: 'allow', link }]);
  return id;
}

/** Options of {@link signedIn}. */
export interface AdminOptions extends BrowserContextOptions {
  readonly language?: Language;
  readonly person?: Person;
  /** The fragment to open. */
  readonly at?: string;
}

/** Opens the UI in a new browser, and signs in at the page that it leads to. */
export async function signedIn(
  { base, newPage }: Pick<Stage, 'base' | 'newPage'>,
  { language = 'en', person = boss, at = '#/users', ...options }: AdminOptions = {},
): Promise<Admin> {
  const page = await newPage({ locale: language, ...options });
  await page.goto(`${base}/ui/${at}`);
  await typePassword(page, language, person);
  await page.getByRole('navigation').waitFor();
  return adminAt(page, language);
}

/** The browser of the administrator on each stage. */
const browsers = new WeakMap<Stage['newPage'], BrowserContext>();

/**
 * Opens the UI in a new page of the administrator's browser, and signs in where that is signed in no more. A new
 * browser takes three times as long; {@link signedIn} has one, for tests that change more of it than its cookies.
 */
export async function signedInAgain(
  stage: Pick<Stage, 'base' | 'newPage'>,
  { at = '#/users' }: Pick<AdminOptions, 'at'> = {},
): Promise<Admin> {
  const browser = browsers.get(stage.newPage);
  if (browser === undefined) {
    const admin = await signedIn(stage, { at });
    const context = admin.page.context();
    browsers.set(stage.newPage, context);
    context.once('close', () => browsers.delete(stage.newPage));
    return { ...admin, close: () => admin.page.close() };
  }
  const page = await browser.newPage();
  await page.goto(`${stage.base}/ui/${at}`);
  const navigation = page.getByRole('navigation');
  await navigation.or(page.getByLabel(pageMessages.en.password)).first().waitFor();
  if ((await navigation.count()) === 0) await typePassword(page, 'en', boss);
  await navigation.waitFor();
  return { ...adminAt(page, 'en'), close: () => page.close() };
}

/** Signs in at the sign-in page. */
export async function typePassword(page: Page, language: Language, { email, password }: Person): Promise<void> {
  const say = pageMessages[language];
  await page.getByLabel(say.email).fill(email);
  await page.getByLabel(say.password).fill(password);
  await page.getByRole('button', { name: say.signIn, exact: true }).click();
}

/** Returns the one who uses a page of the UI. */
export function adminAt(page: Page, language: Language): Admin {
  const say = messages[language];
  const list = page.getByRole('grid').locator('tbody tr');
  return {
    page,
    say,
    open: async (tab) => {
      await page.getByRole('navigation').getByRole('link', { name: say.tabs[tab], exact: true }).click();
      await page.getByRole('heading', { level: 2, name: say.tabs[tab], exact: true }).waitFor();
    },
    press: (name) => page.getByRole('button', { name, exact: true }).click(),
    fill: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
    choose: (text) => list.filter({ hasText: text }).first().click(),
    rows: () => list.allInnerTexts(),
    sees: (text) => page.getByText(text, { exact: true }).first().waitFor(),
    close: () => page.context().close(),
  };
}

/** Returns the element that has the focus: its name, and its text. */
export async function focused(page: Page): Promise<string> {
  // The page moves the focus once it is painted.
  await page.evaluate('new Promise((painted) => requestAnimationFrame(() => setTimeout(painted, 100)))');
  return page.evaluate<string>(
    '`${document.activeElement.tagName} ${document.activeElement.textContent.slice(0, 40)}`',
  );
}
