import { expect } from 'chai';
import pg from 'pg';
import { Outage, sorted, sortingErrors } from '../../api/db/outage.ts';
import { Problem } from '../../api/problem.ts';

function databaseError(code: string | undefined): pg.DatabaseError {
  const error = new pg.DatabaseError('said by Postgres', 0, 'error');
  error.code = code;
  return error;
}

function withCode(code: string, message = 'said by the system'): Error {
  return Object.assign(new Error(message), { code });
}

/** What an error is sorted as: an outage, a problem, or left as it is. */
function sort(error: unknown): string {
  const found = sorted(error);
  if (found === error) return 'as it is';
  return found instanceof Error ? found.constructor.name : typeof found;
}

describe('an error of the Postgres client', () => {
  const outages: readonly (readonly [what: string, error: unknown])[] = [
    ['connection failure', databaseError('08006')],
    ['a read-only server', databaseError('25006')],
    ['a transaction that was idle too long', databaseError('25P03')],
    ['a password that was changed', databaseError('28P01')],
    ['a role that is gone', databaseError('28000')],
    ['a database that is gone', databaseError('3D000')],
    ['a serialization failure', databaseError('40001')],
    ['a deadlock', databaseError('40P01')],
    ['a full disk', databaseError('53100')],
    ['no memory', databaseError('53200')],
    ['max_connections', databaseError('53300')],
    ['lock_timeout', databaseError('55P03')],
    ['statement_timeout', databaseError('57014')],
    ['pg_terminate_backend', databaseError('57P01')],
    ['a crash of another server process', databaseError('57P02')],
    ['a server that starts or stops', databaseError('57P03')],
    ['an I/O error', databaseError('58030')],
    ['a refusal without a code', databaseError(undefined)],
    ['nobody listens', withCode('ECONNREFUSED')],
    ['a reset connection', withCode('ECONNRESET')],
    ['an unknown host', withCode('ENOTFOUND')],
    ['a broken pipe', withCode('EPIPE')],
    ['a certificate that has expired', withCode('CERT_HAS_EXPIRED')],
    ['a certificate of somebody else', withCode('ERR_TLS_CERT_ALTNAME_INVALID')],
    ['a certificate nobody vouches for', withCode('DEPTH_ZERO_SELF_SIGNED_CERT')],
    ['an unknown issuer', withCode('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
    ['a lost connection', new Error('Connection terminated unexpectedly')],
    ['a connection that was not made in time', new Error('Connection terminated due to connection timeout')],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
    ['a broken client', new Error('Client has encountered a connection error and is not queryable')],
    ['a pool that ends', new Error('Cannot use a pool after calling end on the pool')],
  ];
  for (const [what, error] of outages) {
    it(`is an outage: ${what}`, () => {
      expect(sort(error)).to.equal('Outage');
      expect(sorted(error)).to.have.property('cause', error);
    });
  }

  const problems = ['22001', '22003', '22021', '22P02', '22P05'];
  for (const code of problems) {
    it(`is the caller's problem: a value of class 22, ${code}`, () => {
      expect(sort(databaseError(code))).to.equal('Problem');
    });
  }

  const bugs: readonly (readonly [what: string, error: unknown])[] = [
    ['a missing table', databaseError('42P01')],
    ['a missing right', databaseError('42501')],
    ['a violated constraint', databaseError('23505')],
    ['a row without a partition', databaseError('23514')],
    ['a statement in a failed transaction', databaseError('25P02')],
    ['an error of our own code', new TypeError('x is not a function')],
    ['what is no error', 'text'],
  ];
  for (const [what, error] of bugs) {
    it(`is left as it is: ${what}`, () => {
      expect(sort(error)).to.equal('as it is');
    });
  }

  it('is sorted once: an outage and a problem stay what they are', () => {
    for (const error of [new Outage('away'), new Problem('conflict', 'taken')]) expect(sorted(error)).to.equal(error);
  });

  it('never shows what Postgres said of a value', () => {
    const error = databaseError('22P02');
    error.message = 'invalid input syntax for type inet: "a secret"';
    expect(String(sorted(error))).to.not.include('a secret');
  });

  it('is sorted on its way out of a piece of work, whose result comes through', async () => {
    expect(await sortingErrors(async () => 1)).to.equal(1);
    const failed = await sortingErrors(() => Promise.reject(databaseError('57P01'))).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Outage);
  });
});
