import { hiddenFields, unescaped } from '../http/pages/browser.ts';
import { ann } from './https-box.ts';

/** A page that a visitor ended up on. */
export interface VisitedPage {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

/** A person with a browser without scripts, who signs in and agrees wherever a page of Boxgate asks for it. */
export interface Visitor {
  /** Opens an address and goes where it leads; stops before an address that `until` accepts, which is not requested. */
  visit(address: string | URL, until?: (url: URL) => boolean): Promise<VisitedPage>;
}

interface Step {
  readonly url: URL;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Number of pages and redirects that one visit may lead through. */
const longest = 20;

/** Creates a visitor who is {@link ann} and is not signed in anywhere. */
export function newVisitor(): Visitor {
  // All hosts of these tests are localhost, and browsers keep cookies by host, not by port (RFC 6265 §8.5).
  const cookies = new Map<string, string>();

  async function request({ url, fields }: Step): Promise<{ page: VisitedPage; location: string | null }> {
    const headers = new Headers();
    if (cookies.size > 0) headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const post = fields && { method: 'POST', body: new URLSearchParams(fields) };
    const response = await fetch(url, { ...post, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) keep(cookie);
    const page = { url, status: response.status, text: await response.text() };
    return { page, location: response.headers.get('location') };
  }

  function keep(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (value === '' || /; Max-Age=0(;|$)/i.test(cookie)) cookies.delete(name);
    else cookies.set(name, value);
  }

  return {
    async visit(address, until = () => false) {
      let next: Step = { url: new URL(address) };
      for (let steps = 0; steps < longest; steps += 1) {
        if (until(next.url)) return { url: next.url, status: 0, text: '' };
        const { page, location } = await request(next);
        const following = location === null ? formOf(page) : { url: new URL(location, page.url) };
        if (following === undefined) return page;
        next = following;
      }
      throw new Error(`it leads on and on; the last address is ${next.url.href}`);
    },
  };
}

/** Returns the page's form as the visitor sends it; undefined if the page has none. */
function formOf({ url, status, text }: VisitedPage): Step | undefined {
  const [form] = /<form\b[^>]*\bmethod="post"[^>]*>/i.exec(text) ?? [];
  if (status !== 200 || form === undefined) return undefined;
  const [, action] = /\baction="([^"]*)"/.exec(form) ?? [];
  const target = action === undefined ? url : new URL(unescaped(action), url);
  const answers = text.includes('name="password"') ? ann : text.includes('name="answer"') ? { answer: 'allow' } : {};
  return { url: target, fields: { ...hiddenFields(text), ...answers } };
}
