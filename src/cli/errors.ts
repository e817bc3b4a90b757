/** The command was called in a way it cannot be: exit code 2. The message is for the person who called it. */
export class Misuse extends Error {
  override name = 'Misuse'
}

/** The command was called well, and could not be carried out: exit code 1. */
export class Failure extends Error {
  override name = 'Failure'
}
