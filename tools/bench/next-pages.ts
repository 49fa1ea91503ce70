import type { Boxgate } from './boxgate.ts';

/** Follows the links `next` from an address, and returns so many addresses at most, the first one among them. */
export async function followNext(
  boxgate: Boxgate,
  token: string,
  first: string,
  most: number,
): Promise<readonly string[]> {
  const found: string[] = [];
  let next: string | undefined = first;
  while (next !== undefined && found.length < most) {
    found.push(next);
    next = await nextOf(boxgate, token, next);
  }
  return found;
}

async function nextOf({ port }: Boxgate, token: string, address: string): Promise<string | undefined> {
  const root = `http://127.0.0.1:${port}`;
  const response = await fetch(`${root}${address}`, { headers: { Authorization: `Bearer ${token}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${address}: ${response.status} ${text}`);
  // Lists have their links in a header, Bundles in their body.
  const inHeader = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  const link = inHeader ?? /"relation":"next","url":"([^"]+)"/.exec(text)?.[1];
  if (link === undefined) return undefined;
  const { pathname, search } = new URL(link, root);
  return pathname + search;
}
