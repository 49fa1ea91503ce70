import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { longCommentLines } from './comment-lines.ts';
import { isCheckedSource } from './comment-openings.ts';
import { filesOfTheTree } from './tree.ts';

describe('the lines of comments', () => {
  it('have at most 120 characters, as those of code', () => {
    const files = filesOfTheTree().filter(isCheckedSource);
    const found = files.flatMap((file) => longCommentLines(file, readFileSync(file, 'utf8')));
    expect(found, `\n${found.join('\n')}\n`).to.have.length(0);
  });

  for (const prefix of ['// ', '/** ', '   * ', '  // ']) {
    it(`would be refused after ${JSON.stringify(prefix)} with 121 characters, and are accepted with 120`, () => {
      const line = prefix.padEnd(120, 'x');
      expect(longCommentLines('x.ts', `const y = 1;\n${line}\n`)).to.deep.equal([]);
      expect(longCommentLines('x.ts', `const y = 1;\n${line}x\n`)).to.deep.equal([
        'x.ts:2: 121 characters; wrap it at 120',
      ]);
    });
  }

  it('are distinguished from code that the formatter cannot wrap', () => {
    expect(longCommentLines('x.ts', `const pattern = /${'x'.repeat(200)}/; // a comment\n`)).to.deep.equal([]);
  });
});
