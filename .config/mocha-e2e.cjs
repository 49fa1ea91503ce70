// Mocha's settings for the stories of `make e2e`, which share one installation and run one after the other.
module.exports = {
  extension: ['ts'],
  require: ['test/e2e/installed.ts'],
  reporter: 'test/house/reporter.ts',
  timeout: 900_000,
  forbidOnly: true,
  forbidPending: true,
  failZero: true,
};
