import { expect } from 'chai';
import pg from 'pg';
import { Outage, toOutage, translatingErrors } from '../../../api/db/core/outage.ts';
import { Problem } from '../../../api/problem.ts';

function databaseError(code: string | undefined): pg.DatabaseError {
  const error = new pg.DatabaseError('said by Postgres', 0, 'error');
  error.code = code;
  return error;
}

function withCode(code: string, message = 'said by the system'): Error {
  return Object.assign(new Error(message), { code });
}

/** Returns the class of an error after translation: an outage, a problem, or unchanged. */
function sort(error: unknown): string {
  const found = toOutage(error);
  if (found === error) return 'as it is';
  return found instanceof Error ? found.constructor.name : typeof found;
}

describe('an error of the Postgres client', () => {
  const outages: readonly (readonly [what: string, error: unknown])[] = [
    ['08000 a connection that failed', databaseError('08000')],
    ['08001 a server that a server cannot reach', databaseError('08001')],
    ['08003 a connection that is gone', databaseError('08003')],
    ['08004 a server that turns connections away', databaseError('08004')],
    ['08006 a connection that broke', databaseError('08006')],
    ['08007 a commit whose end nobody knows', databaseError('08007')],
    ['08P01 a pooler that lost its server', databaseError('08P01')],
    ['25006 a read-only server: a standby, or one that is about to be replaced', databaseError('25006')],
    ['25P03 a transaction that was idle too long', databaseError('25P03')],
    ['28P01 a password that was changed', databaseError('28P01')],
    ['28000 a role that is gone', databaseError('28000')],
    ['3D000 a database that is gone', databaseError('3D000')],
    ['40001 a serialization failure, or a standby that had to go on', databaseError('40001')],
    ['40003 a statement whose end nobody knows', databaseError('40003')],
    ['40P01 a deadlock', databaseError('40P01')],
    ['53000 too few resources', databaseError('53000')],
    ['53100 a full disk', databaseError('53100')],
    ['53200 no memory', databaseError('53200')],
    ['53300 max_connections', databaseError('53300')],
    ['53400 a limit of the configuration', databaseError('53400')],
    ['55000 a lock or a function that recovery does not allow: a standby', databaseError('55000')],
    ['55P03 lock_timeout', databaseError('55P03')],
    ['57014 statement_timeout', databaseError('57014')],
    ['57P01 pg_terminate_backend, a server that stops', databaseError('57P01')],
    ['57P02 a crash of another server process', databaseError('57P02')],
    ['57P03 a server that starts, stops or recovers', databaseError('57P03')],
    ['57P04 a database that was dropped', databaseError('57P04')],
    ['57P05 a session that was idle too long', databaseError('57P05')],
    ['58030 an I/O error', databaseError('58030')],
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
      expect(toOutage(error)).to.have.property('cause', error);
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
    ['an object in use', databaseError('55006')],
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
    for (const error of [new Outage('away'), new Problem('conflict', 'taken')]) expect(toOutage(error)).to.equal(error);
  });

  it('never shows what Postgres said of a value', () => {
    const error = databaseError('22P02');
    error.message = 'invalid input syntax for type inet: "a secret"';
    expect(String(toOutage(error))).to.not.include('a secret');
  });

  it('is sorted on its way out of a piece of work, whose result comes through', async () => {
    expect(await translatingErrors(async () => 1)).to.equal(1);
    const failed = await translatingErrors(() => Promise.reject(databaseError('57P01'))).catch(
      (error: unknown) => error,
    );
    expect(failed).to.be.instanceOf(Outage);
  });
});
