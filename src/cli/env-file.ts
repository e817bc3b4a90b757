import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { quote } from '../listing/text.ts'
import { Misuse } from './errors.ts'
import { reasonFor } from './input.ts'

/**
 * Adds the variables of a file to the environment. A variable that the environment has keeps its
 * value. Throws Misuse.
 */
export function loadEnvFile(file: string): void {
  const given = Object.entries(parseEnv(readEnvFile(file)))
  if (given.length === 0)
    throw new Misuse(`--env-file ${quote(file)} has no line such as DATABASE_URL=sqlite:listing.db`)
  // An empty variable counts as unset, as everywhere in the configuration.
  for (const [name, value] of given) if (!process.env[name]) process.env[name] = value
}

function readEnvFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Misuse(`cannot read the file ${quote(file)} of --env-file: ${reasonFor(error)}`)
  }
}
