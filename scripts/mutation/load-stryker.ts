/** The part of Stryker's API that this needs. The package has its own lock file. */
interface StrykerModule {
  Stryker: new (options: object) => { runMutationTest(): Promise<{ status: string }[]> }
}

export const OPTIONS = {
  testRunner: 'tap',
  plugins: ['@stryker-mutator/tap-runner'],
  coverageAnalysis: 'perTest',
  // Stryker would rewrite the paths in it by TypeScript's old API. Our code runs as it is.
  tsconfigFile: 'none',
  ignorePatterns: ['bench', 'data', 'dist', '.stryker-tmp*'],
  timeoutMS: 15_000,
  dryRunTimeoutMinutes: 30,
  concurrency: 2,
  allowConsoleColors: false,
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 90, low: 90, break: null },
}

/** Loads Stryker, or ends the process with a sentence that says how to install it. */
export async function loadStryker(): Promise<StrykerModule> {
  // The compiler cannot resolve a variable, so it checks this file without the package, too.
  const name: string = '@stryker-mutator/core'
  try {
    return (await import(name)) as StrykerModule
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    console.error('Stryker is not installed. Run: npm ci --prefix scripts/mutation')
    return process.exit(1)
  }
}
