import { expect } from 'chai';
import type { BatchedStatements } from '../../../api/db/batched-statements.ts';
import { browser, onCodeDatabase, newCode, overForTheUser, redemption, sessionOf, stored } from './code-rows.ts';
import type { CodeDatabase } from './code-rows.ts';

describe('the hot statements of the code flow', () => {
  let database: CodeDatabase;
  let hot: BatchedStatements;

  onCodeDatabase((started) => {
    database = started;
    ({ hot } = database);
  });

  const answers = async (): Promise<number> =>
    Number((await database.owner.query('SELECT FROM boxgate.authorization_answer')).rowCount);

  /** Changes by another connection between the statement that finds and the one that stores. */
  const betweenForBoth = {
    'the version of the box moves': `UPDATE boxgate.box SET config_version = 11 WHERE box = 'default'`,
    ...Object.fromEntries(Object.entries(overForTheUser).map(([what, sql]) => [`they ${what}`, sql])),
  };
  const betweenForCodes = {
    ...betweenForBoth,
    'they sign out': `DELETE FROM boxgate.sign_in WHERE box = 'default' AND browser = '\\x${browser}'`,
    'the sign-in becomes another one': `UPDATE boxgate.sign_in SET version = 2 WHERE box = 'default'`,
    'the sign-in becomes another person’s': `UPDATE boxgate.sign_in SET user_id = 2 WHERE box = 'default'`,
    'the consent is taken back': `DELETE FROM boxgate.consent WHERE box = 'default'`,
    'the consent is given again': `UPDATE boxgate.consent_target SET version = 2 WHERE box = 'default'`,
    'the consent no longer covers the scope': `UPDATE boxgate.consent_target SET scopes = '{read}' WHERE box = 'default'`,
  };
  for (const [what, change] of Object.entries(betweenForCodes)) {
    it(`store no code when ${what}`, async () => {
      await database.owner.query(change);
      expect(await hot.storeCode(newCode())).to.equal(false);
      expect(await answers()).to.equal(0);
      expect(await hot.storeCode(newCode({ box: 'other' }))).to.equal(true);
    });
  }

  const betweenForRedemptions = {
    ...betweenForBoth,
    'it was used or ended': `UPDATE boxgate.authorization_answer SET used_at = now() WHERE box = 'default'`,
    'it is gone': `DELETE FROM boxgate.authorization_answer WHERE box = 'default'`,
    'it is another code by now': `UPDATE boxgate.authorization_answer SET hash = '\\x00' WHERE box = 'default'`,
    'it is a token that was given at once': `UPDATE boxgate.authorization_answer SET hash = NULL WHERE box = 'default'`,
    'it is another client’s by now': `UPDATE boxgate.authorization_answer SET client = 'other' WHERE box = 'default'`,
    'it is another person’s by now': `UPDATE boxgate.authorization_answer SET user_id = 2 WHERE box = 'default'`,
  };
  for (const [what, change] of Object.entries(betweenForRedemptions)) {
    it(`redeem no code when ${what}`, async () => {
      const use = redemption(await stored(hot));
      const elsewhere = redemption(await stored(hot, { box: 'other' }));
      await database.owner.query(change);
      expect(await hot.redeem(use)).to.equal(false);
      expect((await sessionOf(hot, use)).value).to.equal(undefined);
      expect(await hot.redeem(elsewhere)).to.equal(true);
    });
  }
});
