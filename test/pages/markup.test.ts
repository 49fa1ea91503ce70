import { expect } from 'chai';
import fc from 'fast-check';
import { markup, markupText } from '../../api/pages/page.ts';

describe('markup', () => {
  it('takes what the template says as it is, and escapes every value', () => {
    expect(markupText(markup`<p title="${'"'}">${'<b>&</b>'}</p>`)).to.equal(
      '<p title="&#34;">&#60;b&#62;&#38;&#60;/b&#62;</p>',
    );
  });

  it('puts pieces together without escaping them again', () => {
    const items = ['a', '<'].map((text) => markup`<li>${text}</li>`);
    expect(markupText(markup`<ul>${items}${undefined}${markup`<li>${7}</li>`}</ul>`)).to.equal(
      '<ul><li>a</li><li>&#60;</li><li>7</li></ul>',
    );
  });

  it('A-12 never lets a value end the attribute or the text that it is in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const [, inside = ''] = /^<i a="([^]*)">$/.exec(markupText(markup`<i a="${value}">`)) ?? [];
        expect(inside).not.to.match(/[<>"'`]/);
        expect(inside.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))).to.equal(value);
      }),
    );
  });
});
