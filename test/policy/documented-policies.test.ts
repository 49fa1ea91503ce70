import { isObject } from '../../crds/path.ts';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { accessPolicySchema, RULE_ENGINES } from '../../crds/access-policy.ts';
import { schemaNode } from '../../crds/schema-node.ts';
import { checkResource } from '../../crds/validate.ts';
import { decide } from '../../api/policy/decide.ts';
import { MOST_COMPILE_COST } from '../../api/policy/engines/engine.ts';
import { LONGEST_SOUGHT } from '../../api/policy/engines/cel-runtime.ts';
import { DEEPEST_SCHEMA, MOST_SUBSCHEMAS } from '../../api/policy/engines/json-schema-check.ts';
import { FORMATS } from '../../api/policy/engines/json-schema-dialect.ts';
import { ownMember } from '../../api/policy/json-value.ts';
import { LONGEST_PATTERN, MOST_STATES } from '../../api/policy/linear-regexp.ts';
import { createPolicyIndex } from '../../api/policy/policy-index.ts';
import { REQUEST_OBJECT_VERSION } from '../../api/policy/request-object.ts';
import type { RequestObject } from '../../api/policy/request-object.ts';
import { MILLISECONDS_PER_DECISION, STEPS_PER_DECISION } from '../../api/policy/steps.ts';
import { code, examplesIn, resourceIn, subjectOf, tableRows } from './documented-examples.ts';
import { sampleRequest } from './policies.ts';

const page = readFileSync('docs/reference/policy-engines.md', 'utf8');

describe('docs/guides/policies.md and docs/reference/policy-engines.md', () => {
  for (const { source, rows } of examplesIn(readFileSync('docs/guides/policies.md', 'utf8') + page)) {
    const index = createPolicyIndex();
    const checked = checkResource('AccessPolicy', resourceIn(source));
    const name = checked.ok ? checked.resource.id : 'an example';
    if (checked.ok) index.set(checked.resource);

    it(`${name}: is an AccessPolicy that may be stored`, () => {
      expect(checked).to.have.property('ok', true);
      expect(rows.map(({ answer }) => answer)).to.include.members(['granted', 'denied']);
    });

    for (const { request, answer } of rows) {
      it(`${name}: ${request} is ${answer}`, () => {
        const asked = requestIn(request);
        expect(decide(index.candidates(subjectOf(asked)), asked).granted ? 'granted' : 'denied').to.equal(answer);
      });
    }
  }

  it('have an example of every engine', () => {
    const engines = examplesIn(page).map(({ source }) => ownMember(resourceIn(source), 'engine'));
    expect(engines).to.include.members([...RULE_ENGINES, 'complex']);
  });

  it('list every field of the request object, with the version', () => {
    const listed = tableRows('| field | type | meaning |', page).map(([field = '']) => code(field));
    expect(listed).to.have.members(Object.keys(sampleRequest({ body: 1, changes: [], user: { id: 1 } })));
    expect(page).to.contain(`same object, version ${REQUEST_OBJECT_VERSION}.`);
  });

  it('name the limits that hold', () => {
    const figure = (count: number) => count.toLocaleString('en');
    const { properties } = schemaNode(accessPolicySchema);
    expect(tableRows('| what | maximum |', page)).to.deep.equal([
      ['steps of one decision, all its candidates together', figure(STEPS_PER_DECISION)],
      ['processor time of one decision, all its candidates together', `${MILLISECONDS_PER_DECISION} ms`],
      ['CEL expression', `${figure(Number(properties?.['expression']?.['maxLength']))} characters`],
      ['text that `contains`, `indexOf`, `lastIndexOf` or `split` of CEL searches for', `${LONGEST_SOUGHT} characters`],
      ['subschemas, those behind a `$ref` counted again', figure(MOST_SUBSCHEMAS)],
      ['subschemas in subschemas', `${figure(DEEPEST_SCHEMA)} levels`],
      ['regular expression', `${figure(LONGEST_PATTERN)} characters`],
      ['states of its RE2 program', figure(MOST_STATES)],
      ['rules in `and` or `or`', figure(Number(properties?.['and']?.['maxItems']))],
      ['cost of compiling the policy, all its rules together', `${MOST_COMPILE_COST / 1000} ms`],
    ]);
  });

  it('name the formats that are known', () => {
    const formats = /Formats: ([^.]+)\./.exec(page)?.[1]?.match(/[a-z0-9-]+/g);
    expect(formats).to.have.members(Object.keys(FORMATS));
  });
});

/** The sample request with what the row says. */
function requestIn(row: string): RequestObject {
  const different: unknown = parse(row);
  return isObject(different) ? { ...sampleRequest(), ...different } : sampleRequest();
}
