/** The command line or the environment is wrong: exit code 2. The message is for the operator. */
export class Misuse extends Error {
  override name = 'Misuse'
}

/** A correct command that failed: exit code 1. The message is for the operator. */
export class Failure extends Error {
  override name = 'Failure'
}
