import { existsSync } from 'node:fs';
import path from 'node:path';

/** Returns the anchors of a page's headings, as code hosts make them: lower case, blanks to hyphens, no other signs. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...withoutCode(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Returns the links of a page to files of the project, as it writes them. */
export function linksOf(page: string): readonly string[] {
  const targets = [...withoutCode(page).matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** Returns the links of a page that lead nowhere; `read` returns the text of another page. */
export function deadLinks(file: string, page: string, read: (file: string) => string): readonly string[] {
  return linksOf(page)
    .filter((link) => {
      const [target = '', anchor] = link.split('#', 2);
      const found = target === '' ? file : path.posix.join(path.posix.dirname(file), target);
      if (!existsSync(found)) return true;
      return anchor !== undefined && !anchorsOf(target === '' ? page : read(found)).has(anchor);
    })
    .map((link) => `${file}: ${link}`);
}

/** Leaves out what is shown as code, where `](` and `#` mean something else. */
function withoutCode(page: string): string {
  return page.replaceAll(/^( *)```[^]*?^\1```$/gm, '').replaceAll(/`[^`\n]*`/g, (code) => code.slice(1, -1));
}
