import { expect } from 'chai';
import { markup, markupText } from '../../api/pages/page.ts';
import { colorRule, palette } from '../../api/pages/palette.ts';

/** Each seventh value of each channel, and colours at the bounds: black, white, the greys where a choice turns. */
const colors = [
  ...['#000000', '#ffffff', '#FFD400', '#757575', '#767676', '#777777', '#ff0000', '#00ff00', '#0000ff'],
  ...Array.from({ length: 216 }, (_, nth) => {
    const digits = [nth % 6, Math.floor(nth / 6) % 6, Math.floor(nth / 36)].map((step) => (step * 3).toString(16));
    return `#${digits.map((digit) => digit + digit).join('')}`;
  }),
];

/** Backgrounds of links by day and by night: page, card, alert. */
const grounds = {
  light: ['#f4f5f7', '#ffffff', '#fdf0ef'],
  dark: ['#12151b', '#1b1f27', '#3a1d1c'],
};

describe('the colour of a box', () => {
  it('stays what it is on buttons, whose text has a contrast of at least 4.5:1', () => {
    for (const color of colors) {
      const [, button = '', text = ''] = /--button: (#\w{6}); --on-button: (#\w{6});/.exec(colorRule(color)) ?? [];
      expect(button).to.equal(color);
      expect(contrast(button, text), `${text} on ${button}`).to.be.at.least(4.5);
    }
  });

  it('has a contrast of at least 4.5:1 with every background in links, by day and by night', () => {
    for (const color of colors) {
      const [light = '', dark = ''] = accents(color);
      for (const ground of grounds.light) expect(contrast(light, ground), `${light} of ${color}`).to.be.at.least(4.5);
      for (const ground of grounds.dark) expect(contrast(dark, ground), `${dark} of ${color}`).to.be.at.least(4.5);
    }
  });

  it('is not mixed where it can be read as it is', () => {
    expect(accents('#a3211d')[0]).to.equal('#a3211d');
    expect(accents('#8ab4f8')[1]).to.equal('#8ab4f8');
    expect(accents('#ffffff')[0]).not.to.equal('#ffffff');
  });

  it('is CSS without a sign that HTML escapes, like the palette', () => {
    for (const css of [palette, colorRule('#1f5fbf')]) expect(markupText(markup`${css}`)).to.equal(css);
  });
});

function accents(color: string): string[] {
  return [...colorRule(color).matchAll(/--accent: (#[0-9a-f]{6});/g)].map(([, accent = '']) => accent);
}

/** WCAG 2.2, "contrast ratio" and "relative luminance", by itself: a fault of the product must not hide here. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [one, other].map(luminance).toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const weights = [0.2126, 0.7152, 0.0722];
  const parts = (color.match(/[0-9a-f]{2}/gi) ?? []).map((digits) => Number(`0x${digits}`) / 255);
  return parts
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, nth) => sum + part * (weights[nth] ?? 0), 0);
}
