import { expect } from 'chai';
import { hash } from 'node:crypto';
import { markup, markupText, page, pagePolicy, styles } from '../../api/pages/page.ts';

const frame = { language: 'en', title: 'Sign in' } as const;

describe('a page', () => {
  it('shows the name and the logo of its box', () => {
    const { text } = page({ ...frame, name: 'Shop', logo: 'https://shop.example/a.svg?x=1&y="' }, markup`<p>x</p>`);
    expect(text).to.contain('<title>Sign in · Shop</title>');
    expect(text).to.contain('<img class="logo" src="https://shop.example/a.svg?x=1&#38;y=&#34;" alt="">');
    expect(page(frame, markup`<p>x</p>`).text)
      .to.contain('<title>Sign in</title>')
      .and.not.to.contain('<img');
  });

  it('has its style inline, known by its hash, and no script', () => {
    const { text } = page(frame, markup`<p>x</p>`);
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? [];
    expect(pagePolicy({ logo: undefined }, false)).to.contain(`'sha256-${hash('sha256', style, 'base64')}'`);
    expect(text).not.to.match(/<script|javascript:| on\w+=| style=/);
  });

  it('has a style without a sign that HTML escapes', () => {
    expect(markupText(markup`${styles}`)).to.equal(styles);
  });

  it('loads pictures of others only where the box has a logo, and limits its form unless that leads to an app', () => {
    expect(pagePolicy({ logo: undefined }, false)).to.contain('; img-src data:;');
    expect(pagePolicy({ logo: 'https://a.example/x' }, false)).to.match(/; img-src data: https:; form-action 'self'$/);
    expect(pagePolicy({ logo: undefined, issuer: 'https://a.example/boxes/x' }, false)).to.match(
      /; form-action 'self' https:\/\/a\.example$/,
    );
    expect(pagePolicy({ logo: undefined }, true)).not.to.contain('form-action');
  });
});
