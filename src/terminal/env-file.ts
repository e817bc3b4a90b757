import { readText } from '../model/input.ts'
import { quote } from '../model/text.ts'
import { readEnvLines } from './env-lines.ts'
import { Misuse } from './errors.ts'
import type { Shell } from './shell.ts'

/**
 * Adds the variables of a file to the environment. A variable that the environment has keeps its
 * value. In the program, `env` is that of the process, where Node.js reads NODE_EXTRA_CA_CERTS and
 * others. Returns the names of the variables that it added. Throws Misuse.
 */
export function loadEnvFile(file: string, env: Shell['env']): string[] {
  const given = [...readEnvLines(readEnvFile(file), `--env-file ${quote(file)}`)]
  if (given.length === 0)
    throw new Misuse(`--env-file ${quote(file)} has no line such as DATABASE_URL=sqlite:listing.db`)
  // An empty variable counts as unset, as everywhere in the configuration.
  const added = given.filter(([name]) => !env[name])
  for (const [name, value] of added) env[name] = value
  return added.map(([name]) => name)
}

function readEnvFile(file: string): string {
  const read = readText(file, `the file ${quote(file)} of --env-file`)
  if ('text' in read) return read.text
  throw new Misuse(read.complaint)
}
