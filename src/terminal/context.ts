import { type Config, type ConfigOption, readConfig } from '../config/config.ts'
import { type DatabaseConfig, nameDatabase } from '../config/database-url.ts'
import type { Store } from '../database/store.ts'
import { openStore } from '../open-store.ts'
import { Misuse } from './errors.ts'
import { createWarn, say } from './output.ts'
import type { Shell } from './shell.ts'

/** Follows an error about the command line. */
export const HELP_HINT = 'Run the command with --help to see its options.'

/** The program's option with the names of the variables that --env-file has added. */
export const FROM_ENV_FILE = 'fromEnvFile'

/** Of each command, because a variable may name a pipe, which gives its text once. */
const configs = new WeakMap<Shell, Config>()

/**
 * Reads the configuration. Options of the command line replace variables of the environment. Throws
 * one error that lists every mistake.
 */
export function loadConfig(shell: Shell, options: readonly ConfigOption[] = []): Config {
  const known = configs.get(shell)
  if (known !== undefined) return known
  const read = readConfig(shell.env, options)
  if ('complaints' in read) throw new Misuse(read.complaints.join('\nerror: '))
  configs.set(shell, read.config)
  return read.config
}

/**
 * Reads the configuration of a command that needs a database, so that a bad DATABASE_URL is an
 * error.
 */
export function loadDatabase(shell: Shell): UsableDatabase {
  const { database } = loadConfig(shell)
  if (database.engine === null) throw new Misuse(database.problem)
  return database
}

type UsableDatabase = Exclude<DatabaseConfig, { engine: null }>

/** The store of a command. */
export interface CommandStore extends Store {
  /** The database in messages. */
  readonly place: string
}

/**
 * Runs a command's body on the store and then closes it. Only `create` creates or migrates a
 * database.
 */
export async function withStore<T>(
  shell: Shell,
  body: (store: CommandStore) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  const database = loadDatabase(shell)
  const store = await openStore(database, { ...options, onFault: createWarn(shell) })
  try {
    return await body({ ...store, place: nameDatabase(database) })
  } finally {
    await store.close()
  }
}

/** `withStore` for a command that writes. Afterwards it says which database has changed. */
export async function changeStore<T>(
  shell: Shell,
  body: (store: CommandStore) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  return withStore(
    shell,
    async (store) => {
      const result = await body(store)
      sayDatabase(shell, store.place)
      return result
    },
    options,
  )
}

/** Every command that writes says where, because the shell may lack the service's DATABASE_URL. */
export function sayDatabase(shell: Shell, place: string): void {
  say(shell, `database: ${place}`)
}

/**
 * The value of a required option. Commander's own check comes before its search for typos, so it
 * would answer `--usr` with "--user is missing".
 */
export function needOption(value: string | undefined, flags: string): string {
  if (value !== undefined) return value
  throw new Misuse(`${flags} is missing\n${HELP_HINT}`)
}
