import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Commands, type Ended, environmentOf } from './command.ts'

const BIN = fileURLToPath(new URL('../../bin/server-listing.js', import.meta.url))

const VARIABLES = /^((?:[A-Z_]+=(?:<\([^)]*\)|\S*) )*)(.*)$/s

/**
 * Runs the program from bash, in the folder of the commands. `line` may begin with variables, and
 * have pipes that the shell makes, as in `DATABASE_URL=… restore --revocations <(cat list)`.
 */
export async function runInShell(
  { folder, databasePath }: Pick<Commands, 'folder' | 'databasePath'>,
  line: string,
): Promise<Ended> {
  const [variables, rest] = VARIABLES.exec(line)!.slice(1)
  const command = `${variables}exec ${process.execPath} -- ${BIN} ${rest}`
  const env = { ...environmentOf(databasePath, {}), PATH: process.env.PATH }
  // Bash takes a socket as standard input for a connection from afar, and reads its settings.
  const child = spawn('bash', ['--norc', '-c', command], { cwd: folder, env })
  child.stdin.end()
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code, stdout, stderr }
}
