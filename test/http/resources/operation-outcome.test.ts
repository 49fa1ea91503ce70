import { expect } from 'chai';
import { operationOutcome } from '../../../api/http/server/errors.ts';
import { Problem } from '../../../api/problem.ts';

describe('operationOutcome', () => {
  it('has an issue for each fault, with its field and a sentence', () => {
    const problem = new Problem('invalid', [
      { path: 'grant_types', message: 'must be given' },
      { path: '', message: 'something about the whole' },
    ]);
    expect(operationOutcome(problem, 'request-1')).to.deep.equal({
      resourceType: 'OperationOutcome',
      id: 'request-1',
      issue: [
        { severity: 'error', code: 'invalid', diagnostics: 'grant_types must be given', expression: ['grant_types'] },
        { severity: 'error', code: 'invalid', diagnostics: 'something about the whole' },
      ],
    });
  });
});
