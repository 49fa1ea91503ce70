import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { auditEvents } from '../../api/audit/events.ts';

/** The rows of a chapter of the page, as their cells. */
function written(chapter: string): readonly (readonly string[])[] {
  const [, text = ''] = readFileSync('docs/reference/audit.md', 'utf8').split(`\n## ${chapter}\n`);
  const [own = ''] = text.split('\n## ', 1);
  const rows = own.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => row.slice(2, -2).split(' | '));
}

describe('the page of the audit trail', () => {
  it('lists each event, with its target and its meaning', () => {
    const events = Object.entries(auditEvents).map(([name, { target, meaning }]) => {
      return [`\`${name}\``, target, meaning];
    });
    expect(written('Events')).to.deep.equal(events);
  });
});
