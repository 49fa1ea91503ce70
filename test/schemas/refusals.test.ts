import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { auditEvents } from '../../api/audit/events.ts';
import { refusals } from '../../api/schemas/refusals.ts';

describe('the page of the reasons of refusals', () => {
  it('lists each reason with what is wrong and what to do, and no other', () => {
    const page = readFileSync('docs/reference/refusals.md', 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \| (.*) \| (.*) \|$/gm)].map((row) => row.slice(1));
    const reasons = Object.entries(refusals).map(([name, { wrong, fix }]) => [name, wrong, fix]);
    expect(rows.slice(1)).to.deep.equal(reasons);
  });

  it('each of them is recorded by an event that there is', () => {
    for (const { event } of Object.values(refusals)) expect(auditEvents).to.have.property(event);
  });
});
