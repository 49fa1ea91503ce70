// The documentation as a site: `make docs` builds it from docs/, as it is, with search.
import { readFileSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath, URL } from 'node:url';
import { defineConfig } from 'vitepress';
import { icon } from '../../../api/pages/palette.ts';

/** Where the files of this commit can be read, such as `https://git.example/boxgate/blob/v1.0.0`; the workflow sets it. */
const sourceUrl = process.env.SOURCE_URL;

/** Versions that are served beside this one, newest first: names of tags, separated by spaces. Each is at `/<tag>/`. */
const versions = (process.env.DOCS_VERSIONS ?? '').split(' ').filter(Boolean);

const docs = new URL('../../../docs/', import.meta.url);

/** The pages that a newcomer reads first; the others of a section follow by name. */
const first = {
  guides: [
    'tour',
    'web-and-api',
    'get-a-token',
    'check-a-token',
    'protect-your-api',
    'add-sign-in',
    'products',
    'sign-people-in',
    'users',
    'policies',
  ],
  reference: ['resource-api', 'custom-resources', 'oauth', 'configuration', 'boxctl'],
  maintainers: ['architecture'],
};

export default defineConfig({
  title: 'Boxgate',
  description: 'An OAuth 2.0 authorization server for Kubernetes',
  base: process.env.DOCS_BASE ?? '/',
  srcDir: '../../docs',
  outDir: '../../dist/docs',
  cacheDir: 'node_modules/.cache/vitepress',
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: icon }]],
  themeConfig: {
    logo: { src: icon, alt: '' },
    search: { provider: 'local' },
    nav: [
      { text: 'Guides', link: '/guides/tour' },
      { text: 'Reference', link: '/reference/resource-api' },
      { text: 'Maintainers', link: '/maintainers/architecture' },
      ...(versions.length === 0 ? [] : [{ text: 'Versions', items: versions.map(versionItem) }]),
    ],
    sidebar: {
      '/guides/': [section('Guides', 'guides')],
      '/reference/': [section('Reference', 'reference')],
      '/maintainers/': [section('Maintainers', 'maintainers'), section('Decisions', 'maintainers/decisions')],
    },
    outline: [2, 3],
  },
  markdown: { config: (renderer) => renderer.core.ruler.push('link-sources', linkSources) },
  // The pages lie outside of this folder, and import vue.
  vite: {
    resolve: {
      alias: [{ find: /^vue(?=$|\/)/, replacement: fileURLToPath(new URL('../node_modules/vue', import.meta.url)) }],
    },
  },
});

function versionItem(tag) {
  return { text: tag, link: `/${tag}/`, target: '_self' };
}

/** The sidebar of a folder of pages: what is read first, then the others by name. */
function section(text, folder) {
  const order = first[folder] ?? [];
  const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length);
  const names = readdirSync(new URL(folder, docs))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  return { text, items: names.map((name) => ({ text: titleOf(`${folder}/${name}.md`), link: `/${folder}/${name}` })) };
}

function titleOf(path) {
  return /^# (.*)$/m.exec(readFileSync(new URL(path, docs), 'utf8'))?.[1]?.replaceAll('`', '') ?? path;
}

/** Lets links to files that are no pages lead to their source, or be plain text where nothing says where that is. */
function linkSources({ tokens, env }) {
  for (const { children } of tokens) {
    let isPlain = false;
    for (const token of children ?? []) {
      if (token.type === 'link_close' && isPlain) {
        Object.assign(token, { type: 'span_close', tag: 'span' });
        isPlain = false;
      }
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null || /^([a-z]+:|#|\/)/.test(href)) continue;
      const path = posix.join('docs', posix.dirname(env.relativePath), href);
      if (path.startsWith('docs/') && /\.md(#.*)?$/.test(path)) continue;
      if (sourceUrl !== undefined) token.attrSet('href', `${sourceUrl}/${path}`);
      else {
        Object.assign(token, { type: 'span_open', tag: 'span', attrs: [] });
        isPlain = true;
      }
    }
  }
}
