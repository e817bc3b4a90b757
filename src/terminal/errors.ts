/** The command line or the environment is wrong: exit code 2. The message is for the operator. */
export class Misuse extends Error {
  override name = 'Misuse'
}

/**
 * `serve --require-database` without a usable database: exit code 78. Supervisors know it as
 * EX_CONFIG (sysexits.h), so that they don't have to restart the service again and again.
 */
export class MissingDatabase extends Error {
  override name = 'MissingDatabase'
}

/** A correct command that failed: exit code 1. The message is for the operator. */
export class Failure extends Error {
  override name = 'Failure'
}
