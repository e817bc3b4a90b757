/** What every run of the mutations has in common; `scripts/mutation.ts` adds what is mutated, and the tests of it. */
export default {
  testRunner: 'tap',
  plugins: ['@stryker-mutator/tap-runner'],
  coverageAnalysis: 'perTest',
  // Stryker would rewrite the paths in it by TypeScript's old API; our code runs as it is.
  tsconfigFile: 'none',
  ignorePatterns: ['bench', 'data', 'dist', 'docs', '.stryker-tmp*'],
  timeoutMS: 15_000,
  concurrency: 2,
  allowConsoleColors: false,
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 90, low: 90, break: null },
}
