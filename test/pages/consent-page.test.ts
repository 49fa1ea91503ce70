import { expect } from 'chai';
import { consentPage, type ConsentView } from '../../api/pages/consent-page.ts';
import { messages } from '../../api/pages/messages.ts';
import { BOXGATE_SCOPE } from '../../api/box/scopes.ts';
import { STANDARD_SCOPES } from '../../crds/uri.ts';

const day = 86_400;

function view(language: ConsentView['language'], lifetime: number): ConsentView {
  return {
    language,
    look: { name: undefined, logo: undefined, color: undefined, issuer: 'https://shop.example' },
    formToken: 'form',
    id: 'id',
    client: { id: 'app', name: 'Photo Prints' },
    scopes: ['openid', 'email'],
    claims: [],
    sentences: {},
    audience: 'https://auth.example/boxes/shop',
    shown: 'digest',
    goesTo: 'app.example',
    lifetime,
    email: 'ann@shop.example',
  };
}

/** Returns the terms of a page's list, each with its text. */
function entriesOf(page: string): readonly string[] {
  const entries = page.matchAll(/<dt>([^]*?)<\/dt>\s*<dd>([^]*?)<\/dd>/g);
  return [...entries].map(([, term = '', text = '']) => `${term} ${text.replaceAll(/<[^>]*>/g, ' ')}`).map(oneLine);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

describe('the consent page', () => {
  const sentences = {
    de: ['Die App möchte wissen, wer Sie sind Ihre E-Mail-Adresse sehen', 'Der Zugriff dauert höchstens 365 Tage'],
    en: ['It wants to know who you are see your email address', 'Access lasts at most 365 days'],
  } as const;
  for (const language of ['de', 'en'] as const) {
    it(`names what the app wants, and for how long, in sentences of the language ${language}`, () => {
      const entries = entriesOf(consentPage(view(language, 365 * day)).text);
      expect(entries).to.include.members([...sentences[language]]);
    });

    it(`has a sentence of the language ${language} for every scope that every box has`, () => {
      const scopes = [...STANDARD_SCOPES, BOXGATE_SCOPE];
      const shown = entriesOf(consentPage({ ...view(language, day), scopes }).text).join(' ');
      expect(
        scopes.filter((scope) => shown.includes(messages[language].scopes[scope] ?? `${scope} has none`)),
      ).to.deep.equal(scopes);
    });
  }

  const shown: readonly [scope: string, language: ConsentView['language'], text: string][] = [
    ['orders.read', 'en', 'see your orders'],
    ['orders.read', 'de', 'Ihre Bestellungen sehen'],
    ['orders.write', 'en', 'place &#60;b&#62;orders&#60;/b&#62;'],
    ['orders.write', 'de', 'place &#60;b&#62;orders&#60;/b&#62;'],
    ['unknown', 'en', 'unknown'],
    ['toString', 'de', 'toString'],
    ['openid', 'en', 'know who you are'],
  ];
  for (const [scope, language, text] of shown) {
    it(`A-12 A-15 shows the scope ${scope} in the language ${language} as ${text}`, () => {
      const sentences = {
        'orders.read': { en: 'see your orders', de: 'Ihre Bestellungen sehen' },
        'orders.write': { en: 'place <b>orders</b>' },
      };
      const page = consentPage({ ...view(language, day), scopes: [scope], sentences });
      expect(page.text).to.contain(`<ul><li>${text}</li></ul>`);
    });
  }

  it('rounds the duration up to its largest unit', () => {
    const durations = [1, 61, 3601, day + 1].map((lifetime) =>
      entriesOf(consentPage(view('de', lifetime)).text).at(-1),
    );
    expect(durations).to.deep.equal(
      ['1 Sekunde', '2 Minuten', '2 Stunden', '2 Tage'].map((text) => `Der Zugriff dauert höchstens ${text}`),
    );
  });
});
