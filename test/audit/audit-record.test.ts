import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { auditRecordSchema } from '../../api/audit/audit-record.ts';
import { auditEvents } from '../../api/audit/events.ts';

/** The rows of a chapter of the page, as their cells. */
function written(chapter: string): readonly (readonly string[])[] {
  const [, text = ''] = readFileSync('docs/reference/audit.md', 'utf8').split(`\n## ${chapter}\n`);
  const [own = ''] = text.split('\n## ', 1);
  const rows = own.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => row.slice(2, -2).split(' | '));
}

function descriptionOf(property: object): string {
  return 'description' in property ? String(property.description) : '';
}

describe('the page of the audit trail', () => {
  it('lists each field of a record, with its meaning in the schema', () => {
    const { properties, required } = auditRecordSchema;
    const fields = Object.entries(properties).map(([name, property]) => {
      const isRequired = required.some((one) => one === name);
      return [`\`${name}\``, `${descriptionOf(property)}${isRequired ? '' : ' Optional.'}`];
    });
    expect(written('Fields of a record')).to.deep.equal(fields);
  });

  it('lists each part of the actor', () => {
    const parts = Object.entries(auditRecordSchema.properties.actor.properties);
    const expected = parts.map(([name, part]) => [`\`${name}\``, `${descriptionOf(part)} Optional.`]);
    expect(written('Fields of `actor`')).to.deep.equal(expected);
  });

  it('lists each event, with its target and its meaning', () => {
    const events = Object.entries(auditEvents).map(([name, { target, meaning }]) => {
      return [`\`${name}\``, target, meaning];
    });
    expect(written('Events')).to.deep.equal(events);
  });
});
