import { type Config, readConfig } from '../config.ts'
import type { Store } from '../listing/store.ts'
import { checkEmail, type User } from '../listing/user.ts'
import { openStore } from '../open-store.ts'
import { Failure, Misuse } from './errors.ts'

/** What stands below a complaint about the command line. */
export const HELP_HINT = 'Add --help to see how the command is used.'

/** The configuration; every mistake in it at once where there is one. */
export function loadConfig(): Config {
  const read = readConfig(process.env)
  if ('complaints' in read) throw new Misuse(read.complaints.join('\nerror: '))
  return read.config
}

/** The same for a command that needs a database: a DATABASE_URL that names none is a mistake. */
export function loadConfigWithDatabase(): Config {
  const config = loadConfig()
  if (config.database.engine === null) throw new Misuse(config.database.problem)
  return config
}

/** Runs a command's body on the store, which is closed afterwards. */
export async function withStore<T>(
  body: (store: Store) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  const { database } = loadConfigWithDatabase()
  const store = await openStore(database, options)
  try {
    return await body(store)
  } finally {
    await store.close()
  }
}

/**
 * The value of an option that has to be given. Commander's own check would come before its search for mistyped
 * options, and answer `--usr` by the lack of `--user`.
 */
export function needOption(value: string | undefined, flags: string): string {
  if (value !== undefined) return value
  throw new Misuse(`${flags} is missing\n${HELP_HINT}`)
}

/** The user whom a command names by e-mail. */
export async function findUser(store: Store, email: string): Promise<User> {
  const user = await store.findUser(readEmail(email))
  if (user !== null) return user
  throw new Failure(
    `there is no user ${email}; \`server-listing user add ${email}\` makes one, \`server-listing user list\` shows all`,
  )
}

export function readEmail(email: string): string {
  const checked = checkEmail(email)
  if ('complaint' in checked) throw new Misuse(checked.complaint)
  return checked.email
}
