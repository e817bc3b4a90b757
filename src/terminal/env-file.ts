import { readText } from '../model/input.ts'
import { quote } from '../model/text.ts'
import { Misuse } from './errors.ts'
import type { Shell } from './shell.ts'

const VARIABLE = /^[ \t]*([a-z_]\w*)=(.*)$/is
/** Without the characters that a shell gives a meaning, also `~` where it begins a path. */
const PLAIN = /^(?!~)((?:(?!:~)[^\s\p{Cc}"'`$\\;&|<>()])*)[ \t]*$/u
const QUOTED = /^(["'])((?:(?!\1)[^\p{Cc}`$\\])*)\1[ \t]*$/u

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

/**
 * Reads lines of NAME=value. Accepts a line that has one value for a shell, for `EnvironmentFile=`
 * of systemd and for Compose. `docker run --env-file` keeps the quotes and spaces at the ends of a
 * value, and `readConfig` refuses those. Throws Misuse with the number of the line: a value may be
 * a secret.
 */
export function readEnvLines(text: string, source: string): Map<string, string> {
  const variables = new Map<string, string>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (isWithoutVariable(line)) continue
    const refuse = (complaint: string) => {
      throw new Misuse(`${source}, line ${index + 1}: ${complaint}`)
    }
    const [, name, given = ''] = VARIABLE.exec(line) ?? []
    if (name === undefined) return refuse(adviceForLine(line))
    if (variables.has(name)) return refuse(`${name} is set twice; remove one of the lines`)
    const value = PLAIN.exec(given)?.[1] ?? QUOTED.exec(given)?.[2]
    if (value === undefined) return refuse(adviceFor(name, given))
    variables.set(name, value)
  }
  return variables
}

function isWithoutVariable(line: string): boolean {
  // systemd also ignores the line behind a comment that ends with a backslash.
  return /^[ \t]*(#.*(?<!\\))?$/s.test(line)
}

function adviceForLine(line: string): string {
  return /^[ \t]*#/.test(line)
    ? 'remove the \\ at the end of the comment, because systemd would skip the next line'
    : 'write NAME=value, without export and without spaces around the ='
}

function adviceFor(name: string, given: string): string {
  return /[`$\\]/.test(given)
    ? `the value of ${name} has a $, a \` or a \\, which programs read differently. In a URL, ` +
        'percent-encode it. Put a secret into a file, for a setting that ends with _FILE'
    : `write ${name}="value" if the value has a space or a special character, and put a comment ` +
        'on a line of its own'
}
