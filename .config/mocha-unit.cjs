// Mocha's settings for the tests that need no service (`npm run test:unit`); those of a whole run are in .mocharc.json.
const { unitTests } = require('../test/house/unit-tests.ts');

module.exports = {
  spec: unitTests(),
  reporter: 'test/house/reporter.ts',
  timeout: 300_000,
  forbidOnly: true,
  forbidPending: true,
  failZero: true,
};
