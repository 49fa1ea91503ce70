import type { Language, BoxLook, Page } from './page.ts';
import { markup, page } from './page.ts';
import { messages } from './messages.ts';

/** Content of the consent page (ASVS 10.7): the app and its requests, the destination, the duration. */
export interface ConsentView {
  readonly language: Language;
  readonly look: BoxLook;
  readonly formToken: string;
  /** ID of the request that is answered. */
  readonly id: string;
  readonly client: { readonly id: string; readonly name: string | undefined };
  readonly scopes: readonly string[];
  /** Names of the claims that it requests besides. */
  readonly claims: readonly string[];
  /** The sentences of the box for scopes of its own, by scope. */
  readonly sentences: Readonly<Record<string, Readonly<Partial<Record<Language, string>>>>>;
  /** The service that the token is for. */
  readonly audience: string;
  /** A digest of the page's content, which the answer repeats. */
  readonly shown: string;
  /** Host of the app, or the scheme of one on a device. */
  readonly goesTo: string;
  /** Seconds. */
  readonly lifetime: number;
  readonly email: string;
}

/** Renders the page that asks whether an app may have access. */
export function consentPage(view: ConsentView): Page {
  const { language, look, client, scopes, claims } = view;
  const say = messages[language];
  const wished = scopes.length === 0 ? [say.consentKnowsYou] : scopes.map((scope) => wish(scope, view));
  const details = claims.map((name) => say.claims[name] ?? name).join(', ');
  const wishes = details === '' ? wished : [...wished, say.consentSeesDetails(details)];
  return page(
    { language, title: say.consent(client.name ?? client.id), ...look },
    markup`<p class="soft">${say.signedInAs(view.email)}</p>
<dl>
<dt>${say.consentMay}</dt>
<dd><ul>${wishes.map((text) => markup`<li>${text}</li>`)}</ul></dd>
<dt>${say.consentApp}</dt>
<dd>${client.name === undefined ? client.id : `${client.name} (${client.id})`}</dd>
<dt>${say.consentAudience}</dt>
<dd>${view.audience}</dd>
<dt>${say.consentGoesTo}</dt>
<dd>${view.goesTo}</dd>
<dt>${say.consentLasts}</dt>
<dd>${duration(view.lifetime, language)}</dd>
</dl>
<form method="post">
<input type="hidden" name="form_token" value="${view.formToken}">
<input type="hidden" name="id" value="${view.id}">
<input type="hidden" name="shown" value="${view.shown}">
<button name="answer" value="allow">${say.allow}</button>
<button name="answer" value="deny" class="second">${say.deny}</button>
</form>`,
  );
}

/** Returns what a scope lets the app do; the scope itself where nobody has written a sentence for it. */
function wish(scope: string, { language, sentences }: ConsentView): string {
  const standard = messages[language].scopes;
  if (Object.hasOwn(standard, scope)) return standard[scope] ?? scope;
  const custom = Object.hasOwn(sentences, scope) ? sentences[scope] : undefined;
  return custom?.[language] ?? custom?.en ?? scope;
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Formats a duration in the largest unit that it fills, rounded up: access never lasts longer than shown. */
function duration(seconds: number, language: Language): string {
  const [unit, length] = units.find(([, one]) => seconds >= one) ?? ['second', 1];
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.ceil(seconds / length));
}
